/// A page with the position of the next page.
public struct PositionedPage<Page: Sendable>: Sendable {
  /// The page.
  public let page: Page
  /// The position of the next page, from which a later loop can resume. `nil` after the last page.
  public let next: PagePosition?

  /// Creates a page with a position, for fakes and previews.
  public init(page: Page, next: PagePosition?) {
    (self.page, self.next) = (page, next)
  }
}

/// The settings of a loop over pages.
struct PageOptions: Sendable {
  var start: PagePosition?
  var limit = 1000
  var prefetches = false
}

/// A fetcher of the pages of one loop. It performs the steps of a ``PageLoop``.
struct PageIterator<Page: Sendable> {
  private typealias Fetched = NotedValue<Page, Int>

  private let client: Client
  private let source: PageSource<Page>
  /// The principal of all pages.
  private let principal = CommonPrincipal()
  private let prefetches: Bool
  private let comparesPages: Bool
  private var loop: PageLoop
  private var emptyPages = EmptyPages()
  /// The position of the page that is fetched or was fetched last.
  private var position: PagePosition?
  private var prefetched: PrefetchedCall<Fetched>?
  /// The record of the last page's call, for errors.
  private var record: CallRecord.Box?

  init(_ source: PageSource<Page>, by client: Client, _ options: PageOptions) {
    (self.client, self.source, prefetches) = (client, source, options.prefetches)
    comparesPages = source.comparesPages
    loop = PageLoop(from: options.start, limit: options.limit)
  }

  mutating func next() async throws(CallError) -> PositionedPage<Page>? {
    guard let response = try await nextResponse() else { return nil }
    record = response.box
    let turn = source.turn(response.map(\.value), position)
    if let reason = loop.receive(turn, fingerprint: response.value.note) { throw fault(reason) }
    // For other types of pages only the app can count the elements.
    if let elements = response.value.value as? any Collection { try checkElements(elements.isEmpty) }
    prefetch()
    return PositionedPage(page: response.value.value, next: turn.next)
  }

  /// Updates the numbers of pages without elements after the latest page.
  ///
  /// - Parameter isEmpty: whether the page has no elements.
  /// - Throws: ``CallError`` if too many pages had no elements and the list continues. The loop is then over.
  mutating func check(_ pages: inout EmptyPages, _ isEmpty: Bool) throws(CallError) {
    guard let reason = pages.receive(isEmpty: isEmpty), prefetched != nil || loop.hasNext else { return }
    loop.end()
    prefetched = nil
    throw fault(reason)
  }

  /// Updates the numbers of pages without elements after the latest page, if the page is a collection.
  private mutating func checkElements(_ isEmpty: Bool) throws(CallError) {
    var pages = emptyPages
    defer { emptyPages = pages }
    try check(&pages, isEmpty)
  }

  private mutating func nextResponse() async throws(CallError) -> Response<Fetched>? {
    if let call = prefetched {
      prefetched = nil
      return try await call.response()
    }
    switch loop.advance() {
    case .end: return nil
    case .refuse(let reason):
      loop.end()
      throw fault(reason)
    case .fetch(let position):
      self.position = position
      return try await client.response(to: request(at: position))
    }
  }

  /// Starts to fetch the next page, unless this page is the last. If the loop refuses to continue, the error is thrown
  /// when the next page is requested.
  private mutating func prefetch() {
    guard prefetches, !Task.isCancelled, case .fetch(let position) = loop.advance() else { return }
    self.position = position
    prefetched = PrefetchedCall(request(at: position), by: client)
  }

  private func request(at position: PagePosition?) -> Request<Fetched> {
    let origins = PageOrigins(home: client.environment.baseURL.origin, last: record?.record.url?.origin)
    let request = source.request(position, origins)
    let comparesPages = comparesPages
    return request.setting(CommonPrincipalKey.self, principal).mapped(
      by: request.mapping.noting { comparesPages ? $0.fingerprint : nil })
  }

  /// Returns the error for a list that cannot be continued, with the trace of the last page.
  private func fault(_ detail: String) -> CallError {
    CallError(
      CallFailure(code: .decoding, phase: .decoding, requestState: .responded, detail: detail),
      record?.record ?? CallRecord(Trace(id: .none, endpoint: .none)))
  }
}
