import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A formatter of JSON and forms that masks the values of secret members, in one pass that stops at a limit. Malformed
/// JSON is treated as JSON.
struct ContentMasker: Sendable {
  /// In lower case, without `_` and `-`.
  let words: [[UInt8]]

  func isReadable(_ type: MediaType) -> Bool { type.isJSON || Self.isForm(type) }

  private static func isForm(_ type: MediaType) -> Bool { type.essence == "application/x-www-form-urlencoded" }

  /// The text of content; `nil`: its type is not logged.
  func text(of content: Data, _ type: MediaType, limit: Int) -> String? {
    guard isReadable(type) else { return nil }
    var output: [UInt8] = []
    let isComplete = Self.isForm(type) ? maskForm(content, limit, &output) : maskJSON(content, limit, &output)
    // Control characters could begin a new line or control a terminal.
    let text = String(String.UnicodeScalarView(String(decoding: output, as: UTF8.self).unicodeScalars.map(Self.shown)))
    return isComplete ? text : text + "…"
  }

  private static func shown(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
    switch scalar.properties.generalCategory {
    case .control, .format, .lineSeparator, .paragraphSeparator: " "
    default: scalar
    }
  }

  /// Whether the name of a member suggests a secret.
  func masks(_ name: some Sequence<UInt8>) -> Bool {
    let plain = name.filter { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }
      .map { $0 >= UInt8(ascii: "A") && $0 <= UInt8(ascii: "Z") ? $0 | 0x20 : $0 }
    return words.contains { plain.contains($0) }
  }

  // MARK: Forms

  private func maskForm(_ content: Data, _ limit: Int, _ output: inout [UInt8]) -> Bool {
    var rest = content[...]
    while !rest.isEmpty {
      guard output.count < limit else { return false }
      let item = rest.prefix { $0 != UInt8(ascii: "&") }
      rest = rest.dropFirst(item.count + 1)
      if !output.isEmpty { output.append(UInt8(ascii: "&")) }
      let name = item.prefix { $0 != UInt8(ascii: "=") }
      if name.count < item.count, masks(decoded(name)) {
        output += name.prefix(limit)
        output += Array("=\(Redaction.mask)".utf8)
      } else {
        output += item.prefix(max(0, limit - output.count))
        if output.count >= limit, !rest.isEmpty || item.count > limit { return false }
      }
    }
    return true
  }

  /// Decodes percent-encoding (RFC 3986 §2.1).
  private func decoded(_ name: Data) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = name[...]
    while let byte = rest.popFirst() {
      let digits = String(decoding: rest.prefix(2), as: UTF8.self)
      guard byte == UInt8(ascii: "%"), digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else {
        bytes.append(byte)
        continue
      }
      bytes.append(value)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  // MARK: JSON

  /// The number of bytes that are read beyond the limit, since masked values can be long.
  private static let readAhead = 64 << 10

  private func maskJSON(_ content: Data, _ limit: Int, _ output: inout [UInt8]) -> Bool {
    let read = content.prefix(limit + Self.readAhead)
    var scanner = JSONScanner(read)
    while let token = scanner.next() {
      guard output.count < limit else { return false }
      switch token {
      case .text(let bytes):
        let isName = scanner.skipsToColon()
        let room = limit - output.count
        output += bytes.prefix(room)
        guard bytes.count <= room else { return false }
        guard isName else { continue }
        output += [UInt8(ascii: ":")]
        // The value of a name with escapes is always masked.
        if masks(bytes) || bytes.contains(UInt8(ascii: "\\")) {
          scanner.skipValue()
          output += Array("\"\(Redaction.mask)\"".utf8)
        }
      case .byte(let byte): output.append(byte)
      }
    }
    return read.count == content.count
  }
}

/// A scanner of JSON by bytes: strings as a whole, everything else byte by byte.
private struct JSONScanner {
  enum Token {
    /// A string with its quotation marks.
    case text(ArraySlice<UInt8>)
    case byte(UInt8)
  }

  private let bytes: [UInt8]
  private var index = 0

  init(_ content: Data) {
    bytes = Array(content)
  }

  mutating func next() -> Token? {
    guard index < bytes.count else { return nil }
    if bytes[index] == UInt8(ascii: "\"") { return .text(string()) }
    index += 1
    return .byte(bytes[index - 1])
  }

  /// Skips the colon that makes the string before it a name; `false`: there is none.
  mutating func skipsToColon() -> Bool {
    var colon = index
    while colon < bytes.count, Self.isSpace(bytes[colon]) { colon += 1 }
    guard colon < bytes.count, bytes[colon] == UInt8(ascii: ":") else { return false }
    index = colon + 1
    return true
  }

  /// Skips a value of any depth.
  mutating func skipValue() {
    while index < bytes.count, Self.isSpace(bytes[index]) { index += 1 }
    var depth = 0
    while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "\""):
        _ = string()
        if depth == 0 { return }
        continue
      case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
      case UInt8(ascii: "}"), UInt8(ascii: "]"):
        if depth == 0 { return }
        depth -= 1
        if depth == 0 {
          index += 1
          return
        }
      case UInt8(ascii: ",") where depth == 0: return
      default: break
      }
      index += 1
    }
  }

  private mutating func string() -> ArraySlice<UInt8> {
    let start = index
    index += 1
    while index < bytes.count, bytes[index] != UInt8(ascii: "\"") {
      index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
    }
    index = min(index + 1, bytes.count)
    return bytes[start..<index]
  }

  private static func isSpace(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || (byte >= 0x09 && byte <= 0x0D)
  }
}
