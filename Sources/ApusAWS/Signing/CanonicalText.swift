import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A text in the canonical form of Signature Version 4, so that client and server sign the same bytes.
struct CanonicalText: Sendable {
  private(set) var bytes: [UInt8] = []

  init(capacity: Int = 0) {
    bytes.reserveCapacity(capacity)
  }

  var string: String { String(decoding: bytes, as: UTF8.self) }

  mutating func append(_ text: some StringProtocol) { bytes.append(contentsOf: text.utf8) }

  mutating func append(_ character: Unicode.Scalar) { bytes.append(UInt8(ascii: character)) }

  /// Appends bytes that are already encoded.
  mutating func append(verbatim encoded: [UInt8]) { bytes += encoded }

  /// Appends bytes as lowercase hexadecimal digits.
  mutating func append(hexadecimal digest: some ContiguousBytes) {
    digest.withUnsafeBytes { digest in
      for byte in digest {
        bytes.append(Self.lowercaseDigit(byte >> 4))
        bytes.append(Self.lowercaseDigit(byte & 15))
      }
    }
  }

  /// Appends text in which every byte that is not an unreserved character (RFC 3986 §2.3) is percent-encoded.
  ///
  /// - Parameter keepsSlashes: whether slashes are not encoded, either.
  mutating func append(encoding text: some Sequence<UInt8>, keepsSlashes: Bool = false) {
    let kept = ByteSet.unreserved
    for byte in text {
      if kept.contains(byte) || keepsSlashes && byte == UInt8(ascii: "/") {
        bytes.append(byte)
      } else {
        bytes += [
          UInt8(ascii: "%"), PercentEncoding.hexDigit(byte >> 4), PercentEncoding.hexDigit(byte & 15),
        ]
      }
    }
  }

  /// Appends a field value without surrounding white space, and with each run of white space replaced by one space.
  mutating func append(field value: String) {
    if Self.isCanonical(value.utf8) { return bytes.append(contentsOf: value.utf8) }
    var isPending = false
    let start = bytes.count
    for byte in value.utf8 {
      switch byte {
      case 0x09...0x0D, 0x20: isPending = bytes.count > start
      default:
        if isPending { bytes.append(0x20) }
        isPending = false
        bytes.append(byte)
      }
    }
  }

  /// Whether the only white space in a field value is single spaces between other bytes.
  private static func isCanonical(_ value: String.UTF8View) -> Bool {
    // `true`, so that a leading space is treated like the second of two spaces.
    var isAfterSpace = true
    for byte in value {
      guard byte > 0x20 || byte == 0x20 && !isAfterSpace || byte < 0x09 || (0x0E..<0x20).contains(byte) else {
        return false
      }
      isAfterSpace = byte == 0x20
    }
    return !isAfterSpace || value.isEmpty
  }

  private static func lowercaseDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
  }
}
