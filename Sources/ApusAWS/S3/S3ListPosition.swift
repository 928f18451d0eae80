import ApusCore

/// The position of a page in a list of objects: the server's token, and the counts of empty pages before it. The counts
/// end a list without elements even if each token is new.
///
/// Encoded as only the token if no page was empty.
struct S3ListPosition: Sendable, Hashable {
  /// The reason why a list ends.
  enum Failure: LoggableError, Hashable {
    case endless(pages: Int)
    case circular

    var description: String {
      switch self {
      case .endless(let pages): "the list goes on after \(pages) pages without objects"
      case .circular: "the list leads back to a page that it contained before"
      }
    }
  }

  /// The maximum number of consecutive empty pages. Servers may send empty pages, for example where objects were
  /// deleted.
  static let limitInRow = 100
  /// The maximum number of empty pages of a list.
  static let limitInAll = 20_000

  let token: String
  private var emptyInRow = 0
  private var emptyInAll = 0
  /// An earlier token, with which a cycle of tokens is detected. The token is recorded when the count of empty pages is
  /// a power of two. The loop over pages compares positions and would not detect a cycle, because the counts make each
  /// position new.
  private var noted: String?

  /// Creates the position after a page.
  ///
  /// - Parameters:
  ///   - token: the token that the page contains.
  ///   - previous: the position of the page. `nil`: the page is the first page.
  ///   - isEmpty: whether the page has neither objects nor prefixes.
  init(_ token: String, after previous: S3ListPosition? = nil, isEmpty: Bool = false) throws(Failure) {
    self.token = token
    (emptyInAll, noted) = (previous?.emptyInAll ?? 0, previous?.noted)
    if token == noted { throw .circular }
    guard isEmpty else { return }
    emptyInRow = (previous?.emptyInRow ?? 0) + 1
    emptyInAll += 1
    guard emptyInRow < Self.limitInRow else { throw .endless(pages: emptyInRow) }
    guard emptyInAll < Self.limitInAll else { throw .endless(pages: emptyInAll) }
    if emptyInAll & (emptyInAll - 1) == 0 { noted = token }
  }
}

extension S3ListPosition: Codable {
  private enum CodingKeys: String, CodingKey {
    case token, emptyInRow, emptyInAll, noted
  }

  init(from decoder: any Decoder) throws {
    if let token = try? decoder.singleValueContainer().decode(String.self) {
      self.token = token
      return
    }
    let container = try decoder.container(keyedBy: CodingKeys.self)
    token = try container.decode(String.self, forKey: .token)
    emptyInRow = try container.decode(Int.self, forKey: .emptyInRow)
    emptyInAll = try container.decode(Int.self, forKey: .emptyInAll)
    noted = try container.decodeIfPresent(String.self, forKey: .noted)
    guard 0..<Self.limitInRow ~= emptyInRow, 0..<Self.limitInAll ~= emptyInAll else { throw Failure.endless(pages: 0) }
  }

  func encode(to encoder: any Encoder) throws {
    guard emptyInAll > 0 else {
      var container = encoder.singleValueContainer()
      return try container.encode(token)
    }
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(token, forKey: .token)
    try container.encode(emptyInRow, forKey: .emptyInRow)
    try container.encode(emptyInAll, forKey: .emptyInAll)
    try container.encodeIfPresent(noted, forKey: .noted)
  }
}
