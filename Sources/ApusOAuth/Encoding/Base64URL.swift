#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Base64 with the alphabet for URLs and without padding (RFC 4648 §5, RFC 7515 §2).
enum Base64URL {
  static func encode(_ bytes: some Sequence<UInt8>) -> String {
    let text = Data(bytes).base64EncodedString().utf8.compactMap { byte -> UInt8? in
      switch byte {
      case UInt8(ascii: "+"): UInt8(ascii: "-")
      case UInt8(ascii: "/"): UInt8(ascii: "_")
      case UInt8(ascii: "="): nil
      default: byte
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// Decodes a text. Returns `nil` if it has other characters, padding, or unused bits that are not zero, so that no
  /// two strings decode to the same bytes.
  static func decode(_ text: some StringProtocol) -> Data? {
    var base64 = text.utf8.map { byte -> UInt8 in
      switch byte {
      case UInt8(ascii: "-"): UInt8(ascii: "+")
      case UInt8(ascii: "_"): UInt8(ascii: "/")
      // No decoder accepts the replacement character.
      case UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="): UInt8(ascii: "!")
      default: byte
      }
    }
    while base64.count % 4 != 0 { base64.append(UInt8(ascii: "=")) }
    guard let data = Data(base64Encoded: Data(base64)), encode(data) == text else { return nil }
    return data
  }
}
