#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A filter that makes text from servers safe for a terminal.
///
/// It escapes control characters (C0, DEL, and C1 as U+0080 to U+009F or as single bytes that are not UTF-8) and the
/// characters that change the direction of text (U+202A to U+202E, U+2066 to U+2069). All other bytes stay unchanged,
/// however they are split into pieces.
struct TerminalText: Sendable {
  /// Whether newlines and tabs stay unchanged.
  let keepsLines: Bool
  /// The bytes of an incomplete character.
  private var pending: [UInt8] = []
  /// The length of that character in bytes.
  private var length = 0
  /// Whether a carriage return is pending, because it may be part of a newline.
  private var holdsReturn = false

  init(keepsLines: Bool = true) {
    self.keepsLines = keepsLines
  }

  /// Filters a text.
  static func harmless(_ text: String, keepsLines: Bool = true) -> String {
    String(decoding: harmless(Data(text.utf8), keepsLines: keepsLines), as: UTF8.self)
  }

  /// Filters UTF-8 text.
  static func harmless(_ bytes: Data, keepsLines: Bool = true) -> Data {
    var text = TerminalText(keepsLines: keepsLines)
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count)
    for byte in bytes { text.append(byte, to: &output) }
    text.finish(&output)
    return Data(output)
  }

  /// Filters the next byte.
  mutating func append(_ byte: UInt8, to output: inout [UInt8]) {
    if holdsReturn {
      holdsReturn = false
      if byte != UInt8(ascii: "\n") { JSONText.appendEscape(0x0D, to: &output) }
    }
    if !pending.isEmpty {
      guard continues(byte) else {
        finish(&output)
        return append(byte, to: &output)
      }
      pending.append(byte)
      if pending.count == length { complete(&output) }
      return
    }
    switch byte {
    case UInt8(ascii: "\n") where keepsLines, UInt8(ascii: "\t") where keepsLines: output.append(byte)
    case UInt8(ascii: "\r") where keepsLines: holdsReturn = true
    case 0..<0x20, 0x7F...0x9F: JSONText.appendEscape(byte, to: &output)
    case 0xC2...0xDF: begin(byte, length: 2)
    case 0xE0...0xEF: begin(byte, length: 3)
    case 0xF0...0xF4: begin(byte, length: 4)
    default: output.append(byte)
    }
  }

  /// Appends pending bytes.
  mutating func finish(_ output: inout [UInt8]) {
    if holdsReturn { JSONText.appendEscape(0x0D, to: &output) }
    holdsReturn = false
    // The bytes are not a valid character: each is filtered separately.
    for byte in pending {
      if (0x80...0x9F).contains(byte) { JSONText.appendEscape(byte, to: &output) } else { output.append(byte) }
    }
    pending = []
  }

  private mutating func begin(_ byte: UInt8, length: Int) {
    pending.append(byte)
    self.length = length
  }

  /// Whether a byte continues the pending character (Unicode, table 3-7).
  private func continues(_ byte: UInt8) -> Bool {
    guard pending.count == 1 else { return (0x80...0xBF).contains(byte) }
    switch pending[0] {
    case 0xE0: return (0xA0...0xBF).contains(byte)
    case 0xED: return (0x80...0x9F).contains(byte)
    case 0xF0: return (0x90...0xBF).contains(byte)
    case 0xF4: return (0x80...0x8F).contains(byte)
    default: return (0x80...0xBF).contains(byte)
    }
  }

  private mutating func complete(_ output: inout [UInt8]) {
    defer { pending.removeAll(keepingCapacity: true) }
    switch (pending[0], pending[1], pending.last ?? 0) {
    case (0xC2, 0x80...0x9F, _): JSONText.appendEscape(pending[1], to: &output)
    case (0xE2, 0x80, 0xAA...0xAE): JSONText.appendEscape(0x20, pending[2] - 0x80, to: &output)
    case (0xE2, 0x81, 0xA6...0xA9): JSONText.appendEscape(0x20, pending[2] - 0x40, to: &output)
    default: output += pending
    }
  }
}
