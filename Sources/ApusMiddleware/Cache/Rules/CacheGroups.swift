import ApusCore
import HTTPTypes

/// The groups of responses that `Cache-Groups` and `Cache-Group-Invalidation` name (RFC 9875): a list of strings as a
/// structured field (RFC 9651 §4.2.1).
enum CacheGroups {
  /// The largest number of groups in a field; further groups are ignored.
  static let maximumCount = 128
  /// The largest length of a group in bytes; longer groups are ignored.
  static let maximumLength = 256
  /// The largest length of a field in bytes; longer fields are ignored.
  private static let maximumFieldLength = 64 << 10

  /// The groups of a response.
  static let membership = HTTPField.Name("Cache-Groups")
  /// The groups that a response to an unsafe method invalidates.
  static let invalidation = HTTPField.Name("Cache-Group-Invalidation")

  /// Returns the groups in a field, compared as they are. Returns none if the field is malformed or has a member that
  /// is no string.
  static func groups(in fields: HTTPFields, _ name: HTTPField.Name?) -> Set<String> {
    guard let name, fields.contains(name), let value = fields[name] else { return [] }
    return groups(in: value) ?? []
  }

  static func groups(in value: String) -> Set<String>? {
    guard value.utf8.count <= maximumFieldLength else { return nil }
    var reader = StringListReader(rest: value.utf8[...])
    return reader.strings().map { strings in
      Set(strings.filter { $0.utf8.count <= maximumLength }.prefix(maximumCount))
    }
  }
}

/// A reader of a structured field of type list (RFC 9651 §4.2.1) whose members are strings with any parameters.
private struct StringListReader {
  var rest: Substring.UTF8View

  /// Returns the strings in order, or `nil` if the text is no such list.
  mutating func strings() -> [String]? {
    var strings: [String] = []
    skip { $0 == UInt8(ascii: " ") }
    while !rest.isEmpty {
      guard let string = string(), skipParameters() else { return nil }
      strings.append(string)
      skip(\.isBlank)
      if rest.isEmpty { return strings }
      guard take(",") else { return nil }
      skip(\.isBlank)
      // A comma at the end is an error.
      if rest.isEmpty { return nil }
    }
    return strings
  }

  private mutating func string() -> String? {
    guard take("\"") else { return nil }
    var bytes: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""):
        return String(decoding: bytes, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let escaped = rest.popFirst(), "\"\\".utf8.contains(escaped) else { return nil }
        bytes.append(escaped)
      case 0x20...0x7E:
        bytes.append(byte)
      default:
        return nil
      }
    }
    return nil
  }

  private mutating func skipParameters() -> Bool {
    while take(";") {
      skip { $0 == UInt8(ascii: " ") }
      guard let first = rest.first, Self.isLowercase(first) || first == UInt8(ascii: "*") else { return false }
      skip { Self.isLowercase($0) || $0.isDigit || "_-.*".utf8.contains($0) }
      if take("="), !skipItem() { return false }
    }
    return true
  }

  private mutating func skipItem() -> Bool {
    if rest.first == UInt8(ascii: "\"") { return string() != nil }
    let start = rest.startIndex
    skip { !",; \t\"".utf8.contains($0) }
    return rest.startIndex > start
  }

  private mutating func skip(_ matches: (UInt8) -> Bool) {
    rest = rest.drop(while: matches)
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  private static func isLowercase(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
}
