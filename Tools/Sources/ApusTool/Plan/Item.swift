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
    guard let (name, _, value) = split(word), !name.isEmpty, !name.utf8.contains(where: { "/.?[".utf8.contains($0) })
    else { return false }
    // `localhost:8080/path` and `http://…` are URLs.
    guard let first = value.utf8.first else { return true }
    return !value.utf8.starts(with: "//".utf8) && !(UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
  }

  private static func split(_ word: String) -> (name: String, sign: String, value: String)? {
    guard let mark = word.utf8.firstIndex(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "=") }) else {
      return nil
    }
    let rest = word[mark...].utf8
    let length = rest.starts(with: ":=".utf8) ? 2 : 1
    return (String(word[..<mark]), String(Substring(rest.prefix(length))), String(Substring(rest.dropFirst(length))))
  }

  /// Without the blanks around it (RFC 9110 §5.5).
  static func trimmed(_ value: String) -> String {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var bytes = value.utf8.drop(while: isBlank)
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    return String(Substring(bytes))
  }
}

/// Words of the command line, split by bytes: a sign with a combining mark behind it is a sign all the same.
extension String {
  /// What stands before and behind the first `sign`; `nil` where there is none.
  func splitAtFirst(_ sign: Unicode.Scalar) -> (String, String)? {
    guard let mark = utf8.firstIndex(of: UInt8(ascii: sign)) else { return nil }
    return (String(self[..<mark]), String(self[utf8.index(after: mark)...]))
  }

  /// What stands behind an `@` in front; `nil` where it begins otherwise.
  var fileName: String? {
    utf8.first == UInt8(ascii: "@") ? String(Substring(utf8.dropFirst())) : nil
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
    appendEscape(0, byte, to: &bytes)
  }

  /// Appends `\uXXXX`.
  static func appendEscape(_ high: UInt8, _ low: UInt8, to bytes: inout [UInt8]) {
    bytes += "\\u".utf8
    for byte in [high, low] { bytes += [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
  }

  private static let digits = Array("0123456789abcdef".utf8)
}
