/// The pages of a list. Each page is fetched with one call when the loop requests it.
///
/// ```swift
/// for try await page in api.pages(of: { .movies(page: $0) }, next: .number { $0.number < $0.total }) {
///   show(page.movies)
/// }
/// ```
///
/// The sequence ends after the last page and after any error. Each page is a call of its own, with its own deadline,
/// retries and trace. Nothing is sent before a loop requests the first page, and leaving the loop early sends no
/// further requests. Cancelling the task cancels the call in flight, which then throws with the code `cancelled`. Each
/// loop starts again from the beginning.
///
/// A server could let a loop run endlessly. The loop therefore throws a ``CallError`` with the code `decoding` and the
/// trace of the last page that was fetched, in these cases:
///
/// - The list has more than 1000 pages (``pageLimit(_:)``).
/// - The URL or cursor of the next page has occurred before.
/// - The list has page numbers or offsets, and a page has the same content (body) as the previous page.
/// - 100 pages in a row, or 20,000 pages in all, have no elements. Elements are counted by ``elements(_:)``, or in the
///   page itself if the page is a collection.
public struct PageSequence<Page: Sendable>: AsyncSequence, Sendable {
  private let client: Client
  private let source: PageSource<Page>
  private var options = PageOptions()

  init(_ source: PageSource<Page>, by client: Client) {
    (self.source, self.client) = (source, client)
  }

  private func with(_ change: (inout PageOptions) -> Void) -> PageSequence {
    var sequence = self
    change(&sequence.options)
    return sequence
  }

  /// Begins at a stored position instead of the first page, see ``withPositions``.
  ///
  /// A position that does not belong to this sequence, for example a page number for a sequence of cursors, makes the
  /// first page fail with the code `invalidRequest`. Nothing is sent then.
  ///
  /// - Parameter position: the position. `nil` means the first page.
  public func resuming(at position: PagePosition?) -> PageSequence {
    with { $0.start = position }
  }

  /// Fetches the next page while the loop works on the current page, never more than one page ahead.
  ///
  /// The prefetched call inherits the deadline and the task-local values of the loop. Its error is thrown when the loop
  /// requests its page. Leaving the loop cancels the call. Cancelling the task cancels the call once the task waits for
  /// the page.
  public func prefetching() -> PageSequence {
    with { $0.prefetches = true }
  }

  /// Limits the number of pages of one loop. A list that continues after the last of these pages is an error.
  ///
  /// - Parameter count: the maximum number of pages, at least 1. Default: 1000.
  public func pageLimit(_ count: Int) -> PageSequence {
    with { $0.limit = Swift.max(1, count) }
  }

  /// The pages with the position after each page.
  public var withPositions: some AsyncSequence<PositionedPage<Page>, CallError> & Sendable {
    PositionedPages { PageIterator(source, by: client, options) }
  }

  /// Returns an iterator that begins at the first page, or at the position of ``resuming(at:)``.
  public func makeAsyncIterator() -> Iterator {
    Iterator(PageIterator(source, by: client, options))
  }

  /// An iterator over the pages.
  public struct Iterator: AsyncIteratorProtocol {
    private var pages: PageIterator<Page>

    fileprivate init(_ pages: PageIterator<Page>) {
      self.pages = pages
    }

    /// Returns the next page.
    ///
    /// - Returns: the page, or `nil` after the last page and after an error.
    /// - Throws: the ``CallError`` of the page's call, or a ``CallError`` for a list without end.
    public mutating func next(isolation actor: isolated (any Actor)?) async throws(CallError) -> Page? {
      try await pages.next()?.page
    }

    /// Updates the numbers of pages without elements after the latest page, see ``PageIterator/check(_:_:)``.
    mutating func check(_ empty: inout EmptyPages, _ isEmpty: Bool) throws(CallError) {
      try pages.check(&empty, isEmpty)
    }
  }
}

/// The pages of a list, each with the position of the next page.
private struct PositionedPages<Page: Sendable>: AsyncSequence, Sendable {
  let make: @Sendable () -> PageIterator<Page>

  /// Returns an iterator that begins where the sequence of pages begins.
  func makeAsyncIterator() -> Iterator {
    Iterator(pages: make())
  }

  /// An iterator over the pages and positions.
  struct Iterator: AsyncIteratorProtocol {
    var pages: PageIterator<Page>

    /// Returns the next page with its position, or `nil` after the last page.
    ///
    /// - Throws: the errors of the iterator of ``PageSequence``.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(CallError) -> PositionedPage<Page>? {
      try await pages.next()
    }
  }
}
