/// The numbered pages of a list. Each page is fetched with one call when the loop requests it.
///
/// ```swift
/// for try await page in api.pages(until: { $0.number >= $0.total }, of: { .movies(page: $0) }) {
///   show(page.movies)
/// }
/// ```
///
/// The sequence ends after the last page and after any error. Leaving the loop early sends no further requests.
/// Cancelling the task cancels the call in flight, which then throws with the code `cancelled`. Each loop begins at
/// the first page.
///
/// A server that ignores the page number would be requested endlessly. Therefore a page with the same content as the
/// previous page is an error, and so is a list with more than ``limit`` pages: a ``CallError`` with the code
/// `decoding` and the trace of the last page that was fetched.
public struct PageSequence<Page: Sendable>: AsyncSequence, Sendable {
  /// A page.
  public typealias Element = Page
  /// The error that ends the loop early.
  public typealias Failure = CallError

  private let client: Client
  private let request: @Sendable (Int) -> Request<NumberedPage>
  private let isLast: @Sendable (Page) -> Bool

  /// The number of the first page. Default: 1.
  public var first = 1
  /// The maximum number of pages of one loop, at least 1. Default: 1000.
  public var limit = 1000
  /// Whether a page with the same content as the previous page is an error. Default: `true`. Use `false` for servers
  /// whose pages can be empty although more pages follow.
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

  /// A page with its content, which is compared with that of the next page.
  private struct NumberedPage: Sendable {
    let page: Page
    let content: Content
  }

  /// Returns an iterator that begins at the first page.
  public func makeAsyncIterator() -> Iterator {
    Iterator(pages: self)
  }

  /// An iterator over the pages.
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
    /// - Returns: the page, or `nil` after the last page and after an error.
    /// - Throws: the ``CallError`` of the page's call, or a ``CallError`` for a repeated page or too many pages.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(CallError) -> Page? {
      guard !isFinished else { return nil }
      // Any error below ends the loop. Only a page that is not the last page continues it.
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
  /// Returns the error for a response with which the loop cannot continue.
  fileprivate func fault(_ detail: String) -> CallError {
    CallError(
      CallFailure(code: .decoding, phase: .decoding, requestState: .responded, detail: detail), box.record)
  }
}

extension Client {
  /// Returns the pages of a list, from page 1 to the last page.
  ///
  /// - Parameters:
  ///   - isLast: whether a page is the last page, for example `\.items.isEmpty`.
  ///   - endpoint: returns the endpoint for a page number.
  /// - Returns: a sequence. Nothing is sent before a loop requests the first page.
  public func pages<E: Endpoint>(
    until isLast: @escaping @Sendable (E.Value) -> Bool, of endpoint: @escaping @Sendable (Int) -> E
  ) -> PageSequence<E.Value> {
    PageSequence(client: self, until: isLast) { endpoint($0).described }
  }

  /// Returns the pages of a list, from page 1 to the last page, for a function that returns requests.
  ///
  /// - Parameters:
  ///   - isLast: whether a page is the last page.
  ///   - request: returns the request for a page number.
  public func pages<Page>(
    until isLast: @escaping @Sendable (Page) -> Bool, of request: @escaping @Sendable (Int) -> Request<Page>
  ) -> PageSequence<Page> {
    PageSequence(client: self, until: isLast, of: request)
  }

  /// Returns the pages of a list whose endpoint has the value ``Content``, decoded as `type`.
  ///
  /// - Parameters:
  ///   - type: the type of a page.
  ///   - isLast: whether a page is the last page.
  ///   - endpoint: returns the endpoint for a page number.
  public func pages<E: Endpoint, Page: Decodable & Sendable>(
    as type: Page.Type, until isLast: @escaping @Sendable (Page) -> Bool, of endpoint: @escaping @Sendable (Int) -> E
  ) -> PageSequence<Page> where E.Value == Content {
    PageSequence(client: self, until: isLast) { endpoint($0).described.mapped(by: .decoded) }
  }

  /// Returns the pages of a list whose request has the value ``Content``, decoded as `type`.
  ///
  /// - Parameters:
  ///   - type: the type of a page.
  ///   - isLast: whether a page is the last page.
  ///   - request: returns the request for a page number.
  public func pages<Page: Decodable & Sendable>(
    as type: Page.Type, until isLast: @escaping @Sendable (Page) -> Bool,
    of request: @escaping @Sendable (Int) -> Request<Content>
  ) -> PageSequence<Page> {
    PageSequence(client: self, until: isLast) { request($0).mapped(by: .decoded) }
  }
}
