import Apus

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A word behind the URL: a field or a member of a JSON object, by the sign that comes first in it.
enum Item: Sendable, Hashable {
  /// `Name:value`
  case field(name: String, value: String)
  /// `name=text`, or `name:=json`; the value is JSON.
  case member(name: String, json: String)

  /// - Throws: ``PlanError`` for a word that is neither.
  init(_ word: String) throws(PlanError) {
    guard let (name, sign, value) = Self.split(word), !name.isEmpty else {
      throw PlanError("“\(word)” is none of Name:value, name=text and name:=json.")
    }
    switch sign {
    case ":=":
      guard JSONText.isValid(value) else { throw PlanError("The value of \(name) is not JSON.") }
      self = .member(name: name, json: value)
    case "=": self = .member(name: name, json: JSONText.quoted(value))
    default: self = .field(name: name, value: Self.trimmed(value))
    }
  }

  /// Whether a word is an item and no URL, which may have a colon, but not so.
  static func isItem(_ word: String) -> Bool {
    guard let (name, _, value) = split(word), !name.isEmpty, !name.contains(where: { "/.?[".contains($0) }) else {
      return false
    }
    // `localhost:8080/path` and `http://…` are URLs.
    return !value.hasPrefix("//") && value.prefix(while: \.isNumber).isEmpty
  }

  private static func split(_ word: String) -> (name: String, sign: String, value: String)? {
    guard let mark = word.firstIndex(where: { $0 == ":" || $0 == "=" }) else { return nil }
    var rest = word[mark...]
    let sign = rest.hasPrefix(":=") ? ":=" : String(rest.prefix(1))
    rest = rest.dropFirst(sign.count)
    return (String(word[..<mark]), sign, String(rest))
  }

  /// Without the blanks around it (RFC 9110 §5.5).
  static func trimmed(_ value: some StringProtocol) -> String {
    var value = Substring(value)
    while let first = value.first, first == " " || first == "\t" { value.removeFirst() }
    while let last = value.last, last == " " || last == "\t" { value.removeLast() }
    return String(value)
  }
}

/// Small pieces of JSON.
enum JSONText {
  /// Whether a text is JSON (RFC 8259).
  static func isValid(_ text: String) -> Bool {
    (try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))) != nil
  }

  /// A string of JSON.
  static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = []
    appendQuoted(text.utf8, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends a string of JSON, made of text in UTF-8.
  static func appendQuoted(_ text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text { appendEscaped(byte, to: &bytes) }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends one byte of a string; bytes above ASCII are as they are.
  static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
    case UInt8(ascii: "\n"): bytes += "\\n".utf8
    case UInt8(ascii: "\r"): bytes += "\\r".utf8
    case UInt8(ascii: "\t"): bytes += "\\t".utf8
    case 0..<0x20, 0x7F: appendEscape(byte, to: &bytes)
    default: bytes.append(byte)
    }
  }

  /// Appends `\u00XX`.
  static func appendEscape(_ byte: UInt8, to bytes: inout [UInt8]) {
    let digits = Array("0123456789abcdef".utf8)
    bytes += "\\u00".utf8
    bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
  }
}
