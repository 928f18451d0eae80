#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A streaming formatter of JSON: two spaces a level, optionally in color.
///
/// It changes only white space; order, numbers and strings stay as the server wrote them. Content that is not JSON
/// keeps all its characters. Control characters are escaped, see ``TerminalText``.
struct JSONPrinter: Sendable {
  private enum Part {
    case key, text, literal
  }

  /// The state of an open object or array.
  private struct Level {
    var isObject: Bool
    var isEmpty = true
  }

  private let hasColors: Bool
  private var levels: [Level] = []
  private var inText = false
  private var isEscaped = false
  private var inLiteral = false
  private var expectsKey = false
  private var isFresh = true
  private var shown = TerminalText(keepsLines: false)
  private var output: [UInt8] = []

  init(hasColors: Bool) {
    self.hasColors = hasColors
  }

  /// Formats the next bytes.
  mutating func print(_ bytes: Data) -> Data {
    output.reserveCapacity(bytes.count * 2)
    for byte in bytes { take(byte) }
    return flush()
  }

  /// Ends the last line.
  mutating func finish() -> Data {
    shown.finish(&output)
    if inText { end(.text) }
    endLiteral()
    if !isFresh { output.append(UInt8(ascii: "\n")) }
    isFresh = true
    return flush()
  }

  private mutating func flush() -> Data {
    defer { output.removeAll(keepingCapacity: true) }
    return Data(output)
  }

  private mutating func take(_ byte: UInt8) {
    // A pending non-ASCII character precedes the formatting.
    if byte < 0x80 { shown.finish(&output) }
    if inText { return takeText(byte) }
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): endLiteral()
    case UInt8(ascii: "\""):
      beginValue()
      inText = true
      begin(expectsKey ? .key : .text)
      output.append(byte)
    case UInt8(ascii: "{"), UInt8(ascii: "["): open(byte)
    case UInt8(ascii: "}"), UInt8(ascii: "]"): close(byte)
    case UInt8(ascii: ","):
      endLiteral()
      output.append(byte)
      newLine()
      expectsKey = levels.last?.isObject ?? false
    case UInt8(ascii: ":"):
      endLiteral()
      output += ": ".utf8
      expectsKey = false
    default:
      if !inLiteral {
        beginValue()
        inLiteral = true
        begin(.literal)
      }
      shown.append(byte, to: &output)
    }
  }

  private mutating func takeText(_ byte: UInt8) {
    shown.append(byte, to: &output)
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      inText = false
      end(expectsKey ? .key : .text)
    }
  }

  private mutating func open(_ byte: UInt8) {
    endLiteral()
    beginValue()
    output.append(byte)
    levels.append(Level(isObject: byte == UInt8(ascii: "{")))
    expectsKey = byte == UInt8(ascii: "{")
  }

  private mutating func close(_ byte: UInt8) {
    endLiteral()
    let level = levels.popLast()
    if level?.isEmpty == false { newLine() }
    output.append(byte)
    isFresh = false
    expectsKey = false
  }

  /// Moves to the position of the next value or key.
  private mutating func beginValue() {
    // Each further document starts a new line.
    if levels.isEmpty, !isFresh { output.append(UInt8(ascii: "\n")) }
    isFresh = false
    guard let last = levels.indices.last, levels[last].isEmpty else { return }
    levels[last].isEmpty = false
    newLine()
  }

  private mutating func newLine() {
    output.append(UInt8(ascii: "\n"))
    output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * min(levels.count, 100)))
  }

  private mutating func endLiteral() {
    guard inLiteral else { return }
    inLiteral = false
    end(.literal)
  }

  // MARK: Colors

  private mutating func begin(_ part: Part) {
    guard hasColors else { return }
    switch part {
    case .key: output += "\u{1B}[34m".utf8
    case .text: output += "\u{1B}[32m".utf8
    case .literal: output += "\u{1B}[33m".utf8
    }
  }

  private mutating func end(_ part: Part) {
    guard hasColors else { return }
    output += "\u{1B}[0m".utf8
  }
}
