import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@Suite struct PageSequenceTests {
  private struct Page: Codable, Sendable, Equatable {
    var items: [Int]
    var page: Int
    var pages: Int
    var isLast: Bool { page >= pages }
  }

  private struct GetPage: Endpoint {
    let number: Int
    var request: Request<Page> { .get("/items", query: ["page": number]) }
  }

  private enum API: Endpoint {
    case items(page: Int)
    var request: Request<Content> {
      switch self {
      case .items(let page): .get("/items", query: ["page": page])
      }
    }
  }

  private let stub = StubTransport()
  private var api: Client { Client(environment: Environment(baseURL: "https://example.test"), transport: stub) }

  /// Stubs pages 1 to `count`, each with two items.
  private func stubPages(_ count: Int) {
    for number in 1...count {
      let page = Page(items: [2 * number - 1, 2 * number], page: number, pages: count)
      stub.on(.get, "/items?page=\(number)", reply: .encoded(page))
    }
  }

  private func collect(_ pages: PageSequence<Page>) async throws(CallError) -> [Int] {
    var items: [Int] = []
    for try await page in pages { items += page.items }
    return items
  }

  @Test("Pages arrive in order up to the last, and none is requested after it")
  func order() async throws {
    stubPages(3)
    let items = try await collect(api.pages(until: \.isLast) { GetPage(number: $0) })
    #expect(items == [1, 2, 3, 4, 5, 6])
    #expect(stub.exchanges.map(\.target) == ["/items?page=1", "/items?page=2", "/items?page=3"])
  }

  @Test("After the last page the iterator returns nil, repeatedly")
  func end() async throws {
    stubPages(1)
    var iterator = api.pages(until: \.isLast) { GetPage(number: $0) }.makeAsyncIterator()
    #expect(try await iterator.next()?.items == [1, 2])
    #expect(try await iterator.next() == nil)
    #expect(try await iterator.next() == nil)
    #expect(stub.exchanges.count == 1)
  }

  @Test("Nothing is sent before the loop, and nothing more after leaving it")
  func laziness() async throws {
    stubPages(3)
    let pages = api.pages(until: \.isLast) { GetPage(number: $0) }
    #expect(stub.exchanges.isEmpty)
    for try await page in pages where page.page == 2 { break }
    #expect(stub.exchanges.count == 2)
  }

  @Test("Each loop starts at the first page, which need not be 1")
  func firstPage() async throws {
    stubPages(3)
    var pages = api.pages(until: \.isLast) { GetPage(number: $0) }
    pages.first = 2
    #expect(try await collect(pages) == [3, 4, 5, 6])
    #expect(try await collect(pages) == [3, 4, 5, 6])
  }

  @Test("Endpoints that leave their type to the call have pages too")
  func contentEndpoint() async throws {
    stubPages(2)
    let items = try await collect(api.pages(as: Page.self, until: \.isLast) { API.items(page: $0) })
    #expect(items == [1, 2, 3, 4])
    #expect(stub.exchanges.map(\.endpoint.description) == Array(repeating: "API GET /items", count: 2))
  }

  @Test("A page that fails ends the loop with its call's error")
  func failure() async throws {
    stubPages(3)
    stub.on(.get, "/items?page=2", reply: .status(503))
    var iterator = api.pages(until: \.isLast) { GetPage(number: $0) }.makeAsyncIterator()
    #expect(try await iterator.next()?.page == 1)
    do {
      _ = try await iterator.next()
      Issue.record("the page that cannot be had was given")
    } catch {
      #expect(error.status == 503)
    }
    #expect(try await iterator.next() == nil)
    #expect(stub.exchanges.count == 2)
  }

  @Test("A server that ignores the page number is detected at the second page")
  func repeatedPage() async throws {
    stub.on(.get, "/items", reply: .encoded(Page(items: [1], page: 1, pages: 9)))
    let error = await #expect(throws: CallError.self) {
      try await collect(api.pages(until: \.isLast) { GetPage(number: $0) })
    }
    #expect(error?.code == .decoding)
    #expect(error?.detail == "two pages in a row are the same")
    #expect(error?.requestState == .responded)
    #expect(error?.trace.events.isEmpty == false)
    #expect(stub.exchanges.count == 2)
  }

  @Test("Repeated pages are allowed on request")
  func allowedRepeats() async throws {
    stub.on(.get, "/items", replies: [.json("[]"), .json("[]"), .json("[1]")])
    var pages = api.pages(until: { $0 == [1] }, of: { Request<[Int]>.get("/items", query: ["page": $0]) })
    pages.refusesRepeats = false
    var count = 0
    for try await _ in pages { count += 1 }
    #expect(count == 3)
  }

  @Test("An endless list fails after the limit")
  func limit() async throws {
    stubPages(5)
    var pages = api.pages(until: { _ in false }, of: { GetPage(number: $0) })
    pages.limit = 3
    var numbers: [Int] = []
    do throws(CallError) {
      for try await page in pages { numbers.append(page.page) }
      Issue.record("the list came to an end")
    } catch {
      #expect(error.code == .decoding)
      #expect(error.detail == "the list goes on after 3 pages")
    }
    #expect(numbers == [1, 2, 3])
    #expect(stub.exchanges.count == 3)
  }

  @Test("A list with exactly as many pages as the limit is complete")
  func exactLimit() async throws {
    stubPages(3)
    var pages = api.pages(until: \.isLast, of: { GetPage(number: $0) })
    pages.limit = 3
    #expect(try await collect(pages).count == 6)
  }

  @Test("Cancelling the looping task cancels the page in flight")
  func cancellation() async throws {
    stubPages(2)
    stub.on(.get, "/items?page=2", reply: .stalled)
    let pages = api.pages(until: \.isLast) { GetPage(number: $0) }
    let loop = Task { try await collect(pages) }
    try await stub.waitForExchanges(2)
    loop.cancel()
    let error = await #expect(throws: CallError.self) { try await loop.value }
    #expect(error?.cancellation == .caller)
    #expect(try await stub.waitUntilIdle().last?.outcome == .cancelled)
  }

  @Test("A cancelled task requests no page")
  func cancelledBefore() async throws {
    stubPages(2)
    let pages = api.pages(until: \.isLast) { GetPage(number: $0) }
    let error = await Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return await #expect(throws: CallError.self) { try await collect(pages) }
    }.value
    #expect(error?.isCancellation == true)
    #expect(stub.exchanges.isEmpty)
  }

  @Test("Modifiers of the endpoint apply to every page")
  func modifiers() async throws {
    stubPages(2)
    _ = try await collect(api.pages(until: \.isLast) { GetPage(number: $0).tag("list") })
    #expect(stub.exchanges.map(\.tags) == [["list"], ["list"]])
  }
}
