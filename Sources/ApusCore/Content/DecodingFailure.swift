import ApusJSON

/// The loggable part of a coder's error: the problem and the coding path, without any value of the content (body).
struct DecodingFailure: CustomStringConvertible {
  let detail: String
  let codingPath: String?

  init(_ error: any Error) {
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      detail = Self.detail(context) ?? "a key is missing"
      codingPath = Self.codingPath(inContent: context.codingPath + [key])
    case DecodingError.valueNotFound(let type, let context):
      detail = Self.detail(context) ?? "expected \(type), found null"
      codingPath = Self.codingPath(inContent: context.codingPath)
    case DecodingError.typeMismatch(let type, let context):
      detail = Self.detail(context) ?? "expected \(type), found another type"
      codingPath = Self.codingPath(inContent: context.codingPath)
    case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty && Self.detail(context) == nil:
      detail = "the content is not valid"
      codingPath = nil
    case DecodingError.dataCorrupted(let context):
      detail = Self.detail(context) ?? "a value is not valid"
      codingPath = Self.codingPath(inContent: context.codingPath)
    case EncodingError.invalidValue(_, let context):
      detail = "a value cannot be encoded"
      codingPath = Self.codingPath(context.codingPath)
    case let error as JSONError:
      detail = "the content is not valid JSON (\(error))"
      codingPath = nil
    case let error as QueryEncodingError:
      detail = error.reason
      codingPath = error.name
    case let error as ContentFileError:
      detail = error.description
      codingPath = nil
    case let fault as CallFault:
      detail = fault.detail
      codingPath = fault.codingPath
    default:
      detail = error.loggedReason
      codingPath = nil
    }
  }

  var description: String { codingPath.map { "\(detail) at \($0)" } ?? detail }

  /// Returns the description by this package's decoder, which contains no value. `nil` if a different decoder threw the
  /// error.
  private static func detail(_ context: DecodingError.Context) -> String? {
    guard context.underlyingError is JSONLocation else { return nil }
    let text = context.debugDescription
    return text.prefix(1).lowercased() + text.dropFirst().dropLast(text.hasSuffix(".") ? 1 : 0)
  }

  /// Returns a coding path into a server's content. Masks keys that the server may have chosen, such as the keys of
  /// dictionaries.
  private static func codingPath(inContent path: [any CodingKey]) -> String {
    codingPath(path.map { $0.isIndex || $0.isWrittenInSource ? $0 : JSONKey(Redaction.mask) })
  }

  /// Returns a coding path as text, for example `items[3].title`.
  private static func codingPath(_ path: [any CodingKey]) -> String {
    var text = ""
    for key in path {
      if let index = key.intValue {
        text += "[\(index)]"
      } else {
        text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
      }
    }
    return text.isEmpty ? "the top" : text
  }
}

extension CodingKey {
  /// Whether the key is an index, recognized by the name that all coders use.
  fileprivate var isIndex: Bool { intValue.map { stringValue == "Index \($0)" } ?? false }

  /// Whether the key occurs in source code: a case of an enum without associated values, or part of a key path. Keys of
  /// dictionaries and other keys created at run time do not occur there.
  fileprivate var isWrittenInSource: Bool {
    if let key = self as? JSONKey { return key.isWrittenInSource }
    let mirror = Mirror(reflecting: self)
    return mirror.displayStyle == .enum && mirror.children.isEmpty
  }
}
