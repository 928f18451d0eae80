/// The arguments of the command line besides options: `[METHOD] URL [ITEM ...]`.
struct Words: Sendable, Hashable {
  /// The method in upper case; `nil` for none.
  var method: String?
  /// The URL as written.
  var url: String
  /// The items.
  var items: [Item]

  /// - Throws: ``PlanError`` without a URL, or with an invalid item.
  init(_ words: [String]) throws(PlanError) {
    var rest = words[...]
    if rest.count > 1, let first = rest.first, Self.isMethod(first, before: rest[rest.startIndex + 1]) {
      method = first.uppercased()
      rest.removeFirst()
    }
    guard let url = rest.popFirst() else { throw PlanError("The URL is missing.") }
    self.url = url
    items = []
    for word in rest { items.append(try Item(word)) }
  }

  /// The methods that are recognized in lower case.
  private static let known: Set<String> = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY",
  ]

  /// Whether the first word is a method rather than a URL.
  ///
  /// `user:password@host` looks like an item. After a known method or a word in capitals it is interpreted as a URL,
  /// because otherwise the password would be sent to a host with the method's name.
  private static func isMethod(_ word: String, before next: String) -> Bool {
    guard !known.contains(word.uppercased()) else { return true }
    return isToken(word) && (word == word.uppercased() || !Item.isItem(next))
  }

  /// Whether a word can be a method: it has only letters and hyphens, and is not `localhost`.
  private static func isToken(_ word: String) -> Bool {
    word.lowercased() != "localhost" && !word.isEmpty
      && word.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"): true
        default: false
        }
      }
  }
}

/// A word after the URL: a field (header) or a member of a JSON object, depending on its first separator.
enum Item: Sendable, Hashable {
  /// `Name:value`
  case field(name: String, value: String)
  /// `name=text`, or `name:=json`; the value is JSON.
  case member(name: String, json: String)

  /// - Throws: ``PlanError`` for any other word.
  init(_ word: String) throws(PlanError) {
    guard let (name, sign, value) = Self.split(word), !name.isEmpty else {
      throw PlanError("“\(word)” is not one of Name:value, name=text and name:=json.")
    }
    switch sign {
    case ":=":
      guard JSONText.isValid(value) else { throw PlanError("The value of \(name) is not JSON.") }
      self = .member(name: name, json: value)
    case "=": self = .member(name: name, json: JSONText.quoted(value))
    default: self = .field(name: name, value: Self.trimmed(value))
    }
  }

  /// Whether a word is an item rather than a URL with a colon.
  static func isItem(_ word: String) -> Bool {
    guard let (name, _, value) = split(word), !name.isEmpty, !name.utf8.contains(where: { "/.?[".utf8.contains($0) })
    else { return false }
    // Excludes `localhost:8080/path` and `http://…`.
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

  /// Trims white space (RFC 9110 §5.5).
  static func trimmed(_ value: String) -> String {
    let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    var bytes = value.utf8.drop(while: isBlank)
    while let last = bytes.last, isBlank(last) { bytes.removeLast() }
    return String(Substring(bytes))
  }
}

/// Words of the command line, split by bytes, so that a combining mark does not hide a separator.
extension String {
  /// Returns the text before and after the first `sign`; `nil` without one.
  func splitAtFirst(_ sign: Unicode.Scalar) -> (String, String)? {
    guard let mark = utf8.firstIndex(of: UInt8(ascii: sign)) else { return nil }
    return (String(self[..<mark]), String(self[utf8.index(after: mark)...]))
  }

  /// The text after a leading `@`; `nil` without one.
  var fileName: String? {
    utf8.first == UInt8(ascii: "@") ? String(Substring(utf8.dropFirst())) : nil
  }
}
