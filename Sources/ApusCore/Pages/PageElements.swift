/// The elements of all pages of a list, one by one.
struct PageElements<Page: Sendable, Element>: AsyncSequence, Sendable {
  private let pages: PageSequence<Page>
  private let elements: @Sendable (Page) -> [Element]

  fileprivate init(_ pages: PageSequence<Page>, _ elements: @escaping @Sendable (Page) -> [Element]) {
    (self.pages, self.elements) = (pages, elements)
  }

  /// Returns an iterator that begins where the sequence of pages begins.
  func makeAsyncIterator() -> Iterator {
    Iterator(pages: pages.makeAsyncIterator(), elements: elements)
  }

  /// An iterator over the elements.
  struct Iterator: AsyncIteratorProtocol {
    fileprivate var pages: PageSequence<Page>.Iterator
    fileprivate let elements: @Sendable (Page) -> [Element]
    private var rest = [Element]().makeIterator()
    private var emptyPages = EmptyPages()

    fileprivate init(pages: PageSequence<Page>.Iterator, elements: @escaping @Sendable (Page) -> [Element]) {
      (self.pages, self.elements) = (pages, elements)
    }

    /// Returns the next element, and fetches the next page after the last element of a page.
    ///
    /// - Returns: the element, or `nil` after the last page and after an error.
    /// - Throws: the ``CallError`` of a page.
    mutating func next(isolation actor: isolated (any Actor)?) async throws(CallError) -> Element? {
      while true {
        if let element = rest.next() { return element }
        guard let page = try await pages.next(isolation: actor) else { return nil }
        let elements = elements(page)
        try pages.check(&emptyPages, elements.isEmpty)
        rest = elements.makeIterator()
      }
    }
  }
}

extension PageSequence {
  /// Returns the elements of all pages, one by one. The next page is fetched after the last element of a page.
  ///
  /// <!-- sample: elements -->
  /// ```swift
  /// let pages = api.pages(of: { .movies(page: $0) }, next: .number { $0.number < $0.total })
  /// for try await movie in pages.elements(\.movies) { print(movie.title) }
  /// ```
  ///
  /// - Parameter elements: returns the elements of a page.
  public func elements<Elements: Sequence & Sendable>(
    _ elements: @escaping @Sendable (_ page: Page) -> Elements
  ) -> some AsyncSequence<Elements.Element, CallError> & Sendable {
    PageElements(self) { Array(elements($0)) }
  }
}
