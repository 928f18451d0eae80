import HTTPTypes

/// The links of all `Link` fields of a response (RFC 8288 §3).
struct WebLinks {
  private(set) var links: [WebLink] = []
  /// Whether a part that cannot be parsed has a parameter `rel` with the word `next`, with or without quotation marks
  /// of any kind.
  private(set) var hidesNext = false

  init(in fields: HTTPFields) {
    guard let name = HTTPField.Name("link") else { return }
    for value in fields[values: name] {
      var parser = WebLinkParser(Array(value.utf8))
      while let item = parser.next() {
        if let link = item.link { links.append(link) }
        guard !item.isSound, item.link?.relations.contains(Self.next) != true else { continue }
        hidesNext = hidesNext || LooseRelation.isPresent(Self.next, in: parser.bytes[item.place])
      }
    }
  }

  /// Returns the first link of this resource with a relation type, which must be in lower case (RFC 8288 §3.2).
  func first(_ relation: String) -> WebLink? {
    links.first { $0.relations.contains(relation) && $0.parameter("anchor") == nil }
  }

  /// The relation type of the next page of a list.
  static let next = "next"
}

/// A single-pass parser for the value of a `Link` field (RFC 8288 §B.2). It also reads values in single quotes, and
/// links without a comma between them.
private struct WebLinkParser {
  /// A part of the value.
  struct Item {
    /// The link; `nil` if the part is not a link.
    let link: WebLink?
    let place: Range<Int>
    /// Whether the whole part follows the grammar.
    let isSound: Bool
  }

  let bytes: [UInt8]
  private var index = 0
  private var isSound = true

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Returns the next part, or `nil` at the end.
  mutating func next() -> Item? {
    skip { Self.isSpace($0) || $0 == UInt8(ascii: ",") }
    guard index < bytes.count else { return nil }
    let start = index
    isSound = true
    guard let target = target() else {
      if index == start { index += 1 }
      skip { $0 != UInt8(ascii: "<") }
      return Item(link: nil, place: start..<index, isSound: false)
    }
    var parameters: [String: String] = [:]
    while let (name, value) = parameter() {
      // Of several parameters with the same name, the first is used (RFC 8288 §3.3).
      if !name.isEmpty, parameters[name] == nil { parameters[name] = value }
    }
    return Item(link: WebLink(target: target, parameters: parameters), place: start..<index, isSound: isSound)
  }

  /// Reads a target in angle brackets. A URL contains no angle brackets.
  private mutating func target() -> String? {
    guard take(UInt8(ascii: "<")) else { return nil }
    let target = read { $0 != UInt8(ascii: ">") && $0 != UInt8(ascii: "<") }
    return take(UInt8(ascii: ">")) ? target : nil
  }

  private mutating func parameter() -> (name: String, value: String)? {
    skip(Self.isSpace)
    if index < bytes.count, !Self.endsToken(bytes[index]) {
      isSound = false
      skip { !Self.endsToken($0) }
    }
    guard take(UInt8(ascii: ";")) else { return nil }
    skip(Self.isSpace)
    let name = read { !Self.isSpace($0) && !Self.endsToken($0) && $0 != UInt8(ascii: "=") }.lowercased()
    skip(Self.isSpace)
    guard take(UInt8(ascii: "=")) else { return (name, "") }
    skip(Self.isSpace)
    return (name, quoted(by: UInt8(ascii: "\"")) ?? singleQuoted() ?? token())
  }

  private mutating func token() -> String {
    let start = index
    skip { !Self.isSpace($0) && !Self.endsToken($0) }
    let token = bytes[start..<index]
    if !token.allSatisfy(Self.isInToken) { isSound = false }
    return String(decoding: token, as: UTF8.self)
  }

  /// Reads a value in single quotes; `nil` if there is no closing quote.
  private mutating func singleQuoted() -> String? {
    let quote = UInt8(ascii: "'")
    guard index < bytes.count, bytes[index] == quote, bytes[(index + 1)...].contains(quote) else { return nil }
    return quoted(by: quote)
  }

  /// Reads a quoted string (RFC 9110 §5.6.4); `nil` if no quoted string begins here.
  private mutating func quoted(by quote: UInt8) -> String? {
    guard take(quote) else { return nil }
    var text: [UInt8] = []
    while index < bytes.count, bytes[index] != quote {
      if bytes[index] == UInt8(ascii: "\\"), index + 1 < bytes.count { index += 1 }
      text.append(bytes[index])
      index += 1
    }
    if !take(quote) { isSound = false }
    return String(decoding: text, as: UTF8.self)
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  private mutating func skip(_ matches: (UInt8) -> Bool) {
    while index < bytes.count, matches(bytes[index]) { index += 1 }
  }

  private mutating func read(_ matches: (UInt8) -> Bool) -> String {
    let start = index
    skip(matches)
    return String(decoding: bytes[start..<index], as: UTF8.self)
  }

  static func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

  /// Whether a byte ends a parameter or, for `<`, begins another link.
  static func endsToken(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: ";") || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "<")
  }

  /// Whether a byte needs no quotes in practice: letters, digits and the signs of media types, languages and URLs.
  private static func isInToken(_ byte: UInt8) -> Bool {
    byte != UInt8(ascii: "%") && LooseRelation.isInWord(byte) || "!*^|$@()[]{}".utf8.contains(byte)
  }
}

/// A search for a relation type in text that is not a valid `Link` field.
private enum LooseRelation {
  /// Whether the text has a parameter `rel` with this word, which is in lower case.
  static func isPresent(_ word: String, in text: ArraySlice<UInt8>) -> Bool {
    var rest = text
    while let start = rest.firstIndex(where: { $0 | 0x20 == UInt8(ascii: "r") }) {
      let isBoundary = start == text.startIndex || !isInWord(text[start - 1])
      rest = rest[(start + 1)...]
      guard isBoundary, rest.prefix(2).map({ $0 | 0x20 }).elementsEqual("el".utf8) else { continue }
      var value = rest.dropFirst(2).drop(while: WebLinkParser.isSpace)
      guard value.popFirst() == UInt8(ascii: "=") else { continue }
      if words(&value).contains(where: { $0.elementsEqual(word.utf8) }) { return true }
      rest = value
    }
    return false
  }

  /// Removes a value and returns its words in lower case. Quotation marks of any kind, also escaped, separate words.
  private static func words(_ value: inout ArraySlice<UInt8>) -> [ArraySlice<UInt8>] {
    var text: [UInt8] = []
    while let byte = value.first, !WebLinkParser.endsToken(byte) {
      value = value.dropFirst(escapeLength(value))
      text.append(byte != UInt8(ascii: "%") && isInWord(byte) ? lowercased(byte) : UInt8(ascii: " "))
    }
    return text.split(separator: UInt8(ascii: " "))
  }

  /// Returns the length of a quotation mark that is written as `&quot;` or `%22`; 1 for any other character.
  private static func escapeLength(_ text: ArraySlice<UInt8>) -> Int {
    switch text.first {
    case UInt8(ascii: "&"):
      let name = text.dropFirst().prefix(6).prefix { $0 == UInt8(ascii: "#") || $0.isLetterOrDigit }
      return name.endIndex < text.endIndex && text[name.endIndex] == UInt8(ascii: ";") ? name.count + 2 : 1
    case UInt8(ascii: "%"): return text.dropFirst().prefix(2).allSatisfy(\.isLetterOrDigit) ? min(3, text.count) : 1
    default: return 1
    }
  }

  /// Whether a byte belongs to a word. Relation types may be URLs.
  static func isInWord(_ byte: UInt8) -> Bool { byte.isLetterOrDigit || "-._:/?#+~%".utf8.contains(byte) }

  private static func lowercased(_ byte: UInt8) -> UInt8 {
    (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
  }
}
