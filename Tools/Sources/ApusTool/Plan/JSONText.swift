import Apus

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Functions that read and write JSON texts.
enum JSONText {
  /// Whether a text is valid JSON (RFC 8259).
  static func isValid(_ text: String) -> Bool {
    (try? JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))) != nil
  }

  /// Returns a JSON string.
  static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = []
    appendQuoted(text.utf8, to: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends UTF-8 text as a JSON string.
  static func appendQuoted(_ text: some Sequence<UInt8>, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text { appendEscaped(byte, to: &bytes) }
    bytes.append(UInt8(ascii: "\""))
  }

  /// Appends a byte of a string, escaped if necessary; bytes above ASCII stay unchanged.
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

/// The reasons of decoding errors.
enum DecodingReason {
  /// Returns the reason of a decoder's error, as part of a sentence.
  static func of(_ error: any Error) -> String {
    guard let error = error as? DecodingError else { return "it is not JSON" }
    switch error {
    case .keyNotFound(let key, _): return "\(key.stringValue) is missing"
    case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
      guard let key = context.codingPath.first else { return "it is not a valid JSON object" }
      return "\(key.stringValue) has an invalid value"
    @unknown default: return "it is not JSON"
    }
  }
}
