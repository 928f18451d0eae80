/// The pages of a list whose pages have numbers: one call a page, made when the loop asks for it.
///
/// ```swift
/// for try await page in api.pages(until: { $0.number >= $0.total }, of: { .movies(page: $0) }) {
///   show(page.movies)
/// }
/// ```
///
/// It ends behind its last page and after any error; leaving the loop early sends nothing more. Cancelling the
/// task that loops cancels the call under way, which throws as cancelled. Each loop begins at the first page.
///
/// A server that ignores the number would be asked for ever. So an answer with the very content of the one before
/// is an error, and so is a list that goes on after ``limit`` pages: a ``CallError`` with the code `decoding` that
/// carries the trace of the page in question.
public struct PageSequence<Page: Sendable>: AsyncSequence, Sendable {
  /// A page.
  public typealias Element = Page
  /// What ends the loop early.
  public typealias Failure = CallError

  private let client: Client
  private let request: @Sendable (Int) -> Request<NumberedPage>
  private let isLast: @Sendable (Page) -> Bool

  /// The number of the page to begin with. Default: 1.
  public var first = 1
  /// The most pages of one loop, at least 1. Default: 1000.
  public var limit = 1000
  /// Whether a page with the same content as the one before is an error. Default: yes; no is for servers whose
  /// pages can be empty although more follow.
  public var refusesRepeats = true

  init(
    client: Client, until isLast: @escaping @Sendable (Page) -> Bool,
    of page: @escaping @Sendable (Int) -> Request<Page>
  ) {
    self.client = client
    self.isLast = isLast
    request = { number in
      let request = page(number)
      let mapping = request.mapping
      return request.mapped(
        by: ResponseMapping(accept: mapping.accept) { NumberedPage(page: try mapping.read($0), content: $0) })
    }
  }

  /// A page with the bytes it was made of, which tell it from the next.
  private struct NumberedPage: Sendable {
    let page: Page
    let content: Content
  }

  /// Begins a loop at the first page.
  public func makeAsyncIterator() -> Iterator {
    Iterator(pages: self)
  }

  /// One loop over the pages.
  public struct Iterator: AsyncIteratorProtocol {
    private let pages: PageSequence
    private var number: Int
    private var count = 0
    private var previous: Response<NumberedPage>?
    private var isFinished = false

    fileprivate init(pages: PageSequence) {
      self.pages = pages
      number = pages.first
    }

    /// Fetches the next page.
    ///
    /// - Returns: the page; `nil` behind the last one and after an error.
    /// - Throws: ``CallError`` of the page's call, or for a list without an end.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(CallError) -> Page? {
      guard !isFinished else { return nil }
      // Whatever throws below ends the loop; only a page that others follow keeps it going.
      isFinished = true
      if let previous, count >= pages.limit {
        throw previous.fault("the list goes on after \(count) pages")
      }
      let response = try await pages.client.response(to: pages.request(number))
      let page = response.value
      if pages.refusesRepeats, let previous, previous.value.content.hasSameBytes(as: page.content) {
        throw response.fault("two pages in a row are the same")
      }
      number &+= 1
      count += 1
      previous = response
      isFinished = pages.isLast(page.page)
      return page.page
    }
  }
}

extension Response {
  /// An answer that is no page the loop can go on from.
  fileprivate func fault(_ detail: String) -> CallError {
    CallError(
      CallFailure(code: .decoding, phase: .decoding, requestState: .answered, detail: detail), box.record)
  }
}

extension Client {
  /// The pages of a list, from page 1 to the last.
  ///
  /// - Parameters:
  ///   - isLast: whether nothing follows a page, for example `\.items.isEmpty`.
  ///   - endpoint: fetches the page with this number.
  /// - Returns: a sequence; nothing is sent before a loop asks for its first page.
  public func pages<E: Endpoint>(
    until isLast: @escaping @Sendable (E.Value) -> Bool, of endpoint: @escaping @Sendable (Int) -> E
  ) -> PageSequence<E.Value> {
    PageSequence(client: self, until: isLast) { endpoint($0).described }
  }

  /// The pages of a list, from page 1 to the last, by requests.
  ///
  /// - Parameters:
  ///   - isLast: whether nothing follows a page.
  ///   - request: fetches the page with this number.
  public func pages<Page>(
    until isLast: @escaping @Sendable (Page) -> Bool, of request: @escaping @Sendable (Int) -> Request<Page>
  ) -> PageSequence<Page> {
    PageSequence(client: self, until: isLast, of: request)
  }

  /// The pages of a list whose endpoint leaves its type to the call.
  ///
  /// - Parameters:
  ///   - type: what each page is decoded as.
  ///   - isLast: whether nothing follows a page.
  ///   - endpoint: fetches the page with this number.
  public func pages<E: Endpoint, Page: Decodable & Sendable>(
    as type: Page.Type, until isLast: @escaping @Sendable (Page) -> Bool, of endpoint: @escaping @Sendable (Int) -> E
  ) -> PageSequence<Page> where E.Value == Content {
    PageSequence(client: self, until: isLast) { endpoint($0).described.mapped(by: .decoded) }
  }

  /// The pages of a list whose request leaves its type to the call.
  ///
  /// - Parameters:
  ///   - type: what each page is decoded as.
  ///   - isLast: whether nothing follows a page.
  ///   - request: fetches the page with this number.
  public func pages<Page: Decodable & Sendable>(
    as type: Page.Type, until isLast: @escaping @Sendable (Page) -> Bool,
    of request: @escaping @Sendable (Int) -> Request<Content>
  ) -> PageSequence<Page> {
    PageSequence(client: self, until: isLast) { request($0).mapped(by: .decoded) }
  }
}
