import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The fields `Repr-Digest` and `Content-Digest` (RFC 9530 §2, §3).
enum DigestField: String {
  /// The digest of the complete representation, even if the response contains only a part of it.
  case representation = "Repr-Digest"
  /// The digest of the content (body) of this message.
  case content = "Content-Digest"

  /// Returns the digests with known algorithms. Returns none if the field is not a dictionary (RFC 9651 §4.2).
  func digests(in fields: HTTPFields) -> [FileDigest] {
    guard let text = HTTPField.Name(rawValue).flatMap({ fields[$0] }) else { return [] }
    return Self.digests(in: text)
  }

  static func digests(in text: String) -> [FileDigest] {
    guard text.utf8.count <= 4096, let members = DictionaryReader.byteSequences(in: text) else { return [] }
    return FileDigest.Algorithm.allCases.compactMap { algorithm in
      members[algorithm.rawValue].flatMap { FileDigest(algorithm, $0) }
    }
  }
}

/// A reader of a structured field of type dictionary (RFC 9651 §4.2.2) that keeps byte sequences and integers.
struct DictionaryReader {
  private var rest: Substring.UTF8View

  /// Returns the byte sequences by their keys, or `nil` if the text is not a dictionary. If several members have the
  /// same key, the last member is returned.
  static func byteSequences(in text: String) -> [String: [UInt8]]? {
    var reader = DictionaryReader(rest: text.utf8[...])
    return reader.members()?.compactMapValues { if case .bytes(let bytes) = $0 { bytes } else { nil } }
  }

  /// Returns the integers by their keys, or `nil` if the text is not a dictionary. If several members have the same
  /// key, the last member is returned.
  static func integers(in text: String) -> [String: Int64]? {
    var reader = DictionaryReader(rest: text.utf8[...])
    return reader.members()?.compactMapValues { if case .integer(let number) = $0 { number } else { nil } }
  }

  private mutating func members() -> [String: Value]? {
    var members: [String: Value] = [:]
    skip { $0 == UInt8(ascii: " ") }
    while !rest.isEmpty {
      guard let key = key() else { return nil }
      members[key] = nil
      if take("=") {
        guard let value = value() else { return nil }
        members[key] = value
      }
      guard skipParameters() else { return nil }
      skipSpace()
      if rest.isEmpty { return members }
      guard take(",") else { return nil }
      skipSpace()
      // A comma at the end is an error.
      if rest.isEmpty { return nil }
    }
    return members
  }

  private enum Value {
    case bytes([UInt8])
    /// An integer of at most 15 digits (RFC 9651 §3.3.1).
    case integer(Int64)
    case other
  }

  private mutating func value() -> Value? {
    guard take("(") else { return item() }
    // An inner list of items with parameters.
    while true {
      skip { $0 == UInt8(ascii: " ") }
      if take(")") { return .other }
      guard item() != nil, skipParameters() else { return nil }
    }
  }

  private mutating func item() -> Value? {
    switch rest.first {
    case UInt8(ascii: ":"): return byteSequence()
    case UInt8(ascii: "\""): return skipString() ? .other : nil
    case UInt8(ascii: "%"):
      rest.removeFirst()
      return skipString() ? .other : nil
    default:
      // An integer, a decimal, a token, a Boolean or a date.
      let word = rest.prefix { !Self.endsItem($0) }
      rest = rest.dropFirst(word.count)
      if word.isEmpty { return nil }
      return word.count <= 16 ? Int64(Substring(word)).map { .integer($0) } ?? .other : .other
    }
  }

  private mutating func byteSequence() -> Value? {
    rest.removeFirst()
    let text = rest.prefix { $0 != UInt8(ascii: ":") }
    rest = rest.dropFirst(text.count)
    guard take(":"), let data = Data(base64Encoded: String(Substring(text))) else { return nil }
    return .bytes([UInt8](data))
  }

  private mutating func skipString() -> Bool {
    guard take("\"") else { return false }
    while let byte = rest.popFirst() {
      if byte == UInt8(ascii: "\"") { return true }
      if byte == UInt8(ascii: "\\"), rest.popFirst() == nil { return false }
    }
    return false
  }

  private mutating func skipParameters() -> Bool {
    while take(";") {
      skip { $0 == UInt8(ascii: " ") }
      guard key() != nil else { return false }
      if take("="), item() == nil { return false }
    }
    return true
  }

  private mutating func key() -> String? {
    guard let first = rest.first, Self.isLetter(first) || first == UInt8(ascii: "*") else { return nil }
    let key = rest.prefix { Self.isLetter($0) || Self.isDigit($0) || "_-.*".utf8.contains($0) }
    rest = rest.dropFirst(key.count)
    return String(Substring(key))
  }

  private mutating func skipSpace() {
    skip { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
  }

  private mutating func skip(_ matches: (UInt8) -> Bool) {
    rest = rest.drop(while: matches)
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard rest.first == UInt8(ascii: character) else { return false }
    rest.removeFirst()
    return true
  }

  private static func isLetter(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "z") }
  private static func isDigit(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") }
  private static func endsItem(_ byte: UInt8) -> Bool { ",; ()\t".utf8.contains(byte) }
}
