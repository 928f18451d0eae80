import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@Suite("Sequences of pages")
struct PageSequenceTests {
  private let bench = PageBench()

  @Test("A page sequence returns all pages in order and requests no page after the last")
  func order() async throws {
    bench.stubPages(3)
    let (items, error) = await collect(bench.numbered)
    #expect(items == [1, 2, 3, 4, 5, 6] && error == nil)
    #expect(bench.targets == ["/items?page=1", "/items?page=2", "/items?page=3"])
  }

  @Test("After the last page the iterator of a page sequence returns nil repeatedly")
  func end() async throws {
    bench.stubPages(1)
    var iterator = bench.numbered.makeAsyncIterator()
    #expect(try await iterator.next()?.items == [1, 2])
    #expect(try await iterator.next() == nil)
    #expect(try await iterator.next() == nil)
    #expect(bench.targets.count == 1)
  }

  @Test("A page sequence sends no request before the loop starts or after it ends")
  func laziness() async throws {
    bench.stubPages(3)
    let pages = bench.numbered
    #expect(bench.targets.isEmpty)
    for try await page in pages where page.number == 2 { break }
    #expect(bench.targets.count == 2)
  }

  @Test("Each loop over a page sequence starts at the first page")
  func twice() async throws {
    bench.stubPages(2)
    let pages = bench.numbered
    #expect(await collect(pages).items == [1, 2, 3, 4])
    #expect(await collect(pages).items == [1, 2, 3, 4])
    #expect(bench.targets.count == 4)
  }

  @Test("A failed page ends the loop with its call's error", arguments: [false, true])
  func failure(prefetching: Bool) async throws {
    bench.stubPages(3)
    bench.stub.on(.get, "/items?page=2", reply: .status(503))
    var iterator = (prefetching ? bench.numbered.prefetching() : bench.numbered).makeAsyncIterator()
    #expect(try await iterator.next()?.number == 1)
    #expect(await nextError(&iterator)?.status == 503)
    #expect(try await iterator.next() == nil)
    #expect(bench.targets.count == 2)
  }

  @Test("A list with more pages than the limit fails after the limit", arguments: [false, true])
  func limit(prefetching: Bool) async throws {
    bench.stubPages(5)
    let pages = bench.numbered.pageLimit(3)
    let (items, error) = await collect(prefetching ? pages.prefetching() : pages)
    #expect(error?.code == .decoding && error?.requestState == .responded)
    #expect(error?.detail == "the list goes on after 3 pages")
    #expect(error?.trace.events.isEmpty == false)
    #expect(items == [1, 2, 3, 4, 5, 6])
    #expect(bench.targets.count == 3)
  }

  @Test("A list with exactly as many pages as the limit is complete", arguments: [1, 3])
  func exactLimit(pages: Int) async throws {
    bench.stubPages(pages)
    let (items, error) = await collect(bench.numbered.pageLimit(pages))
    #expect(items.count == 2 * pages && error == nil)
  }

  @Test("The page limit is 1000 by default and at least 1")
  func limits() async throws {
    // The pages differ, so that only the limit ends the list.
    bench.stub.on(where: { _, _ in true }, reply: { .encoded(ItemPage(items: [$0.id], total: 9)) })
    #expect(await collect(bench.numbered.pageLimit(0)).error?.detail == "the list goes on after 1 pages")
    #expect(await collect(bench.numbered).error?.detail == "the list goes on after 1000 pages")
    #expect(bench.targets.count == 1001)
  }

  @Test("Cancelling the looping task cancels the page in flight")
  func cancellation() async throws {
    bench.stubPages(2)
    bench.stub.on(.get, "/items?page=2", reply: .stalled)
    let pages = bench.numbered
    let loop = Task { await collect(pages) }
    try await bench.stub.waitForExchanges(2)
    loop.cancel()
    let (items, error) = await loop.value
    #expect(items == [1, 2] && error?.cancellation == .caller)
    #expect(try await bench.stub.waitUntilIdle().last?.outcome == .cancelled)
  }

  @Test("A cancelled task requests no page of a sequence")
  func cancelledBefore() async throws {
    bench.stubPages(2)
    let pages = bench.numbered.prefetching()
    let error = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await collect(pages).error
    }.value
    #expect(error?.isCancellation == true)
    #expect(bench.targets.isEmpty)
  }

  @Test("Pages of a `Content` endpoint are decoded with `decoded(as:)` in a page sequence")
  func contentEndpoint() async throws {
    bench.stubPages(2)
    let pages = bench.api.pages(
      of: { ItemAPI.items(page: $0).decoded(as: ItemPage.self) }, next: .number { !$0.isLast })
    #expect(await collect(pages).items == [1, 2, 3, 4])
    #expect(bench.stub.exchanges.map(\.endpoint.description) == Array(repeating: "ItemAPI GET /items", count: 2))
    #expect(bench.stub.exchanges.allSatisfy { $0.fields[.accept] == "application/json" })
  }

  @Test("Modifiers of the endpoint apply to every page")
  func modifiers() async throws {
    bench.stubPages(2)
    let pages = bench.api.pages(of: { GetPage(number: $0).tag("list") }, next: .number { !$0.isLast })
    #expect(await collect(pages).error == nil)
    #expect(bench.stub.exchanges.map(\.tags) == [["list"], ["list"]])
  }

  @Test("An endpoint with expected rejections can be paged")
  func outcomes() async throws {
    bench.stub.on(.get, "/items?page=1", reply: .json("[1]"))
    bench.stub.on(.get, "/items?page=2", reply: .json(#""closed""#, status: 403))
    let pages = bench.api.pages(
      of: { Request<[Int]>.get("/items", query: ["page": $0]).outcome(rejectedAs: String.self) },
      next: .number { if case .accepted = $0 { true } else { false } })
    let outcomes = try await all(pages).map { "\($0)" }
    #expect(outcomes == ["accepted([1])", #"rejected("closed")"#])
  }

  @Test("Elements are returned one by one across pages, and the next page is fetched after a page's last element")
  func elements() async throws {
    bench.stubPage("/items", [1, 2], next: "/empty")
    bench.stubPage("/empty", [], next: "/last")
    bench.stubPage("/last", [3])
    let elements = bench.api.pages(of: .items, next: .url(\.next)).elements(\.items)
    var iterator = elements.makeAsyncIterator()
    #expect(try await [iterator.next(), iterator.next()] == [1, 2])
    #expect(bench.targets == ["/items"])
    #expect(try await iterator.next() == 3)
    #expect(try await iterator.next() == nil)
    #expect(bench.targets == ["/items", "/empty", "/last"])
  }

  @Test("An error of a page is thrown after the elements of the previous pages")
  func failedElements() async throws {
    bench.stubPage("/items", [1], next: "/gone")
    bench.stub.on(.get, "/gone", reply: .status(410))
    var iterator = bench.api.pages(of: .items, next: .url(\.next)).elements(\.items).makeAsyncIterator()
    #expect(try await iterator.next() == 1)
    #expect(await nextError(&iterator) != nil)
    #expect(try await iterator.next() == nil)
  }
}
