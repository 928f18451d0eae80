/// An error whose `description` holds no secrets, so that a ``CallError`` may say it in its own.
///
/// What a middleware, a store of credentials or an app's closure throws may hold anything, so of other errors a
/// ``CallError`` shows the type alone. Conform to this where the text names what is wrong and what to do about it, and
/// nothing that came from a value, a server or a file's content:
///
/// ```swift
/// struct KeyMissing: LoggableError {
///   var description: String { "the signing key is missing: set API_KEY" }
/// }
/// ```
public protocol LoggableError: Error, CustomStringConvertible {}
