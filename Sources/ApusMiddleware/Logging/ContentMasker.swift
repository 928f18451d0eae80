import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A formatter of content that stops at a limit. It masks the values of secret members in JSON and forms, and in other
/// text the lines that contain a revealing word.
struct ContentMasker: Sendable {
  let words: RevealingWords

  /// The kinds of content that are logged.
  private enum Kind {
    case json, form, text

    init?(_ type: MediaType) {
      if type.isJSON {
        self = .json
      } else if type.essence == MediaType.form.essence {
        self = .form
      } else if Self.isText(type) {
        self = .text
      } else {
        return nil
      }
    }

    /// Whether the bytes are text in ASCII or a superset of it, in which words can be found.
    private static func isText(_ type: MediaType) -> Bool {
      let charset = type.parameter("charset")?.lowercased() ?? "utf-8"
      guard ["utf-8", "utf8", "us-ascii", "ascii", "iso-8859-1", "latin1"].contains(charset) else { return false }
      let essence = type.essence
      return essence.hasPrefix("text/") || essence.hasSuffix("+xml") || textTypes.contains(essence)
    }

    private static let textTypes: Set<String> = [
      "application/xml", "application/yaml", "application/x-ndjson", "application/ndjson", "application/jsonl",
      "application/graphql", "application/javascript",
    ]
  }

  /// Returns the text of content; `nil` if its type is not logged, or if it does not match its type.
  func text(of content: Data, _ type: MediaType, limit: Int) -> String? {
    var output: [UInt8] = []
    let isComplete: Bool
    switch Kind(type) {
    case nil: return nil
    case .json:
      guard Self.isJSON(content) else { return nil }
      isComplete = maskJSON(content, limit, &output)
    case .form:
      guard Self.isForm(content) else { return nil }
      isComplete = maskForm(content, limit, &output)
    case .text: isComplete = maskLines(content, limit, &output)
    }
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

  // MARK: Forms

  /// Whether content is a form. Other text could contain a secret as part of a name or a value.
  private static func isForm(_ content: Data) -> Bool {
    content.allSatisfy { $0 > 0x20 && $0 < 0x7F && !"\"<>\\^`{}|".utf8.contains($0) }
  }

  private func maskForm(_ content: Data, _ limit: Int, _ output: inout [UInt8]) -> Bool {
    var rest = content[...]
    while !rest.isEmpty {
      guard output.count < limit else { return false }
      let item = rest.prefix { $0 != UInt8(ascii: "&") }
      rest = rest.dropFirst(item.count + 1)
      if !output.isEmpty { output.append(UInt8(ascii: "&")) }
      let name = item.prefix { $0 != UInt8(ascii: "=") }
      if words.occur(in: decoded(name.prefix(limit + Self.lineReadAhead))) {
        // Without a value, the name itself may be the secret.
        if name.count < item.count { output += name.prefix(limit) + [UInt8(ascii: "=")] }
        output += Array(Redaction.mask.utf8)
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
      guard byte == UInt8(ascii: "%"), let high = rest.first?.hexValue, let low = rest.dropFirst().first?.hexValue
      else {
        bytes.append(byte)
        continue
      }
      bytes.append(high << 4 | low)
      rest = rest.dropFirst(2)
    }
    return bytes
  }

  // MARK: Other text

  /// The number of bytes of a line, or of a name in a form, that are compared beyond the limit.
  private static let lineReadAhead = 4 << 10

  private func maskLines(_ content: Data, _ limit: Int, _ output: inout [UInt8]) -> Bool {
    var rest = content[...]
    while !rest.isEmpty {
      guard output.count < limit else { return false }
      let line = rest.prefix { $0 != UInt8(ascii: "\n") && $0 != UInt8(ascii: "\r") }
      rest = rest.dropFirst(line.count)
      // A line with escapes cannot be searched, so it is masked.
      let start = line.prefix(limit + Self.lineReadAhead)
      let isMasked = words.occur(in: decoded(start)) || start.contains(UInt8(ascii: "\\"))
      let shown = isMasked ? Array(Redaction.mask.utf8) : Array(line.prefix(limit - output.count))
      output += shown
      if !isMasked, shown.count < line.count { return false }
      if let end = rest.popFirst(), output.count < limit { output.append(end) }
    }
    return true
  }

  // MARK: JSON

  /// The maximum length of JSON that is checked, and logged.
  private static let jsonLimit = 8 << 20

  private static func isJSON(_ content: Data) -> Bool {
    if content.isEmpty { return true }
    return content.count <= jsonLimit && (try? JSONValue(parsing: content)) != nil
  }

  /// The number of bytes that are read beyond the limit, because masked values can be long.
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
        if words.occur(in: bytes) || bytes.contains(UInt8(ascii: "\\")) {
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

  /// Skips the colon after a name; returns `false` if there is no colon.
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
