import ApusJSON

/// What a coder's error says, without any value of the content: kind and place only.
struct DecodingFailure: CustomStringConvertible {
  let detail: String
  let codingPath: String?

  init(_ error: any Error) {
    switch error {
    case DecodingError.keyNotFound(let key, let context):
      detail = "a key is missing"
      codingPath = Self.codingPath(inContent: context.codingPath + [key])
    case DecodingError.valueNotFound(let type, let context):
      detail = "expected \(type), found null"
      codingPath = Self.codingPath(inContent: context.codingPath)
    case DecodingError.typeMismatch(let type, let context):
      detail = "expected \(type), found another type"
      codingPath = Self.codingPath(inContent: context.codingPath)
    case DecodingError.dataCorrupted(let context) where context.codingPath.isEmpty:
      detail = "the content is not valid"
      codingPath = nil
    case DecodingError.dataCorrupted(let context):
      detail = "a value is not valid"
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
      detail = "the file cannot be sent: \(error.reason)"
      codingPath = nil
    case let fault as CallFault:
      detail = fault.detail
      codingPath = fault.codingPath
    default:
      detail = CallFault.detail(of: error)
      codingPath = nil
    }
  }

  var description: String { codingPath.map { "\(detail) at \($0)" } ?? detail }

  /// A path into content that came from a server: keys that it may have chosen are part of what it says, and masked.
  private static func codingPath(inContent path: [any CodingKey]) -> String {
    codingPath(path.map { $0.isIndex || $0.isWrittenInSource ? $0 : AnyKey(Redaction.mask) })
  }

  /// A path of keys as people write it: `items[3].title`.
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
  /// Whether it is a place in an array, as all coders write them.
  fileprivate var isIndex: Bool { intValue.map { stringValue == "Index \($0)" } ?? false }

  /// Whether a developer wrote it down: a case of an enum without anything in it, or part of a key path. Keys of
  /// dictionaries and keys that are made at run time are neither, whatever their type.
  fileprivate var isWrittenInSource: Bool {
    if self is AnyKey { return true }
    let mirror = Mirror(reflecting: self)
    return mirror.displayStyle == .enum && mirror.children.isEmpty
  }
}
