/// What stands on the command line besides options: `[METHOD] URL [ITEM ...]`.
struct Words: Sendable, Hashable {
  /// The method, upper case; `nil` when none was written.
  var method: String?
  /// The URL as written.
  var url: String
  /// What stands behind it.
  var items: [Item]

  /// - Throws: ``PlanError`` when there is no URL, or an item that is none.
  init(_ words: [String]) throws(PlanError) {
    var rest = words[...]
    if rest.count > 1, let first = rest.first, Self.isMethod(first, before: rest[rest.startIndex + 1]) {
      method = first.uppercased()
      rest.removeFirst()
    }
    guard let url = rest.popFirst() else { throw PlanError("There is no URL.") }
    self.url = url
    items = []
    for word in rest { items.append(try Item(word)) }
  }

  /// The methods that are known in lower case too.
  private static let known: Set<String> = [
    "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY",
  ]

  /// Whether the first word is the method, and no URL before an item.
  ///
  /// `user:password@host` looks like an item: behind a word that is known or in capitals it never is one, lest the
  /// password go to a host of the method's name.
  private static func isMethod(_ word: String, before next: String) -> Bool {
    guard !known.contains(word.uppercased()) else { return true }
    return isToken(word) && (word == word.uppercased() || !Item.isItem(next))
  }

  /// Letters and hyphens alone: a URL with neither dot, colon nor slash must be the only word but for items.
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
