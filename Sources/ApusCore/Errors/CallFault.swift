/// An error that ApusCore itself throws. It becomes a ``CallError``.
struct CallFault: Error {
  let code: CallError.Code
  /// The reason as a clause without values.
  let detail: String
  /// The coding path of the value, for example `items[3].title`.
  let codingPath: String?
  let underlying: (any Error)?

  init(_ code: CallError.Code, _ detail: String, codingPath: String? = nil, underlying: (any Error)? = nil) {
    self.code = code
    self.detail = detail
    self.codingPath = codingPath
    self.underlying = underlying
  }
}

/// An error whose `description` contains no secrets, so that a ``CallError`` may quote it.
///
/// The errors of middlewares, credentials stores and app closures may contain secrets, so a ``CallError`` shows only
/// their type. Conform to this protocol if the description states the problem and the remedy, and quotes no value, no
/// server and no file:
///
/// ```swift
/// struct KeyMissing: LoggableError {
///   var description: String { "the signing key is missing: set API_KEY" }
/// }
/// ```
public protocol LoggableError: Error, CustomStringConvertible {}

extension Error {
  /// The error's description if the error is a ``LoggableError``, which contains no secrets; otherwise the name of its
  /// type.
  package var loggedReason: String {
    (self as? any LoggableError)?.description ?? "\(type(of: self))"
  }
}
