/// The state of a loop over pages: the position to fetch next and the guards against lists without end. Pure.
struct PageLoop: Sendable {
  /// The next step of a loop.
  enum Step: Sendable, Hashable {
    /// Fetches the page at a position; `nil` is the first page.
    case fetch(PagePosition?)
    /// Ends the loop with an error, for this reason.
    case refuse(String)
    /// Ends the loop.
    case end
  }

  private enum Phase: Sendable {
    case ready(PagePosition?)
    /// No next position is known: the loop has ended, or waits for the page in flight.
    case over
  }

  private let limit: Int
  private var phase: Phase
  private var count = 0
  // Hashes, because a server can send cursors and URLs of any length.
  private var visited: Set<Int> = []
  private var fingerprint: Int?

  /// - Parameters:
  ///   - start: the first position, `nil` for the first page.
  ///   - limit: the maximum number of pages.
  init(from start: PagePosition?, limit: Int) {
    self.limit = limit
    phase = .ready(start)
  }

  /// Whether a next position is known.
  var hasNext: Bool {
    if case .ready = phase { return true }
    return false
  }

  /// Returns the next step. After a step that fetches a page the loop is over, unless ``receive(_:fingerprint:)``
  /// continues it.
  mutating func advance() -> Step {
    guard case .ready(let position) = phase else { return .end }
    guard count < limit else { return .refuse("the list goes on after \(count) pages") }
    if let position, !visited.insert(position.hashValue).inserted {
      return .refuse("the list leads back to a page that it contained before")
    }
    phase = .over
    return .fetch(position)
  }

  /// Continues the loop after a page.
  ///
  /// - Parameters:
  ///   - turn: the positions that the page names.
  ///   - fingerprint: a hash of the page's content, if equal pages are refused.
  /// - Returns: the reason if the page is refused. The loop is then over.
  mutating func receive<Page>(_ turn: PageSource<Page>.Turn, fingerprint new: Int?) -> String? {
    if let new, new == fingerprint { return "two pages in a row are the same" }
    fingerprint = new
    count += 1
    if let own = turn.own { visited.insert(own.hashValue) }
    if let next = turn.next { phase = .ready(next) }
    return nil
  }

  /// Ends the loop.
  mutating func end() {
    phase = .over
  }
}

/// The guard against lists whose pages always have new positions but no elements. Pure.
struct EmptyPages: Sendable {
  private var inRow = 0
  private var inAll = 0

  /// The maximum number of pages in a row without elements.
  static let longestRow = 100
  /// The maximum number of pages without elements in one loop.
  static let most = 20_000

  /// Adds a page. Returns the reason if the page is refused.
  mutating func receive(isEmpty: Bool) -> String? {
    guard isEmpty else {
      inRow = 0
      return nil
    }
    (inRow, inAll) = (inRow + 1, inAll + 1)
    if inRow >= Self.longestRow { return "\(inRow) pages in a row have no elements, and the list goes on" }
    return inAll >= Self.most ? "\(inAll) pages have no elements, and the list goes on" : nil
  }
}
