import ApusCore
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@Suite("URLs of next pages in a response")
struct NamedPageTests {
  private let bench = PageBench()
  private var urls: [String] { bench.stub.exchanges.map(\.request.url) }

  // MARK: The end of a list

  @Test(
    "A Link field with single quotes, or without a comma between its links, can be parsed",
    arguments: [
      "</2>; rel='next'", "</2>; rel='prev next'; title='the, next; one'", "</1>; rel='prev', </2>; rel='next'",
      #"</1>; rel="prev" </2>; rel="next""#, "</1>;rel=prev</2>;rel=next", "</2>; rel='next' </9>; rel='last'",
      #"</1>; rel="prev"</2>; rel="next""#, "</2>; title='it's next'; rel=next", "/1; rel=prev, </2>; rel=next",
      "</1; rel=prev, </2>; rel=next", "</2>; title=don't; rel=next",
    ])
  func sloppy(links: String) async throws {
    bench.stub.on(.get, "/items", reply: .encoded(ItemPage(items: [1]), fields: linkField(links)))
    bench.stubPage("/2", [2])
    let (items, error) = await collect(bench.api.pages(of: .items, next: .link))
    #expect(items == [1, 2] && error == nil)
  }

  @Test(
    "A Link field that names a next page but cannot be parsed is the server's fault, not the end of the list",
    arguments: [
      "/2; rel=next", "/2; rel=\"next\"", "</2; rel=next", "</2>; rel=\u{201C}next\u{201D}",
      "</2>; rel=\u{2018}next\u{2019}",
      "</2>; rel=\u{AB}next\u{BB}", "</2>; rel=`next`", "</2> rel=next", "</2>; rel=&quot;next&quot;",
      "</2>; rel=%22next%22", #"</2>; rel=\"next\""#, "</2>; rel=prev next", "</2>; title=\"a; rel=next",
      "/2;REL = 'Next'", "/2>; rel=\"prev next\"", "https://example.test/2; rel=next, </9>; rel=last", "<>rel=next",
      "</2>; title=\"x\" rel=\"next\"", "[/2]; rel=\"next\"",
    ], [false, true])
  func unreadable(links: String, prefetching: Bool) async throws {
    bench.stub.on(.get, "/items", reply: .encoded(ItemPage(items: [1]), fields: linkField(links)))
    let pages = bench.api.pages(of: .items, next: .link)
    let (items, error) = await collect(prefetching ? pages.prefetching() : pages)
    #expect(items == [1])
    #expect(error?.code == .malformedResponse && error?.requestState == .responded)
    #expect(error?.description.contains("could not be prepared") == false)
    #expect(error?.description.contains("Link field") == true)
    #expect(bench.targets == ["/items"])
  }

  @Test(
    "A Link field without a next page ends the list, independent of its spelling",
    arguments: [
      "</9>; rel=last", "/9; rel=last", "</9>; rel=\u{201C}last\u{201D}", "</9; rel=prev", "</9>; rel=nexto garbage",
      "</9>; title=next", "next", "/9; title=\"next\"", "</9>; curl=next x", "</9>; rel=\"https://a.test/next\" x",
      #"</x>; rel=next; anchor="/other""#, "</x>; rel='next'; anchor='/other'", "", ",", "</9>; rel=\"a; rel=next\"",
      "</9>; rel*=next x",
    ])
  func last(links: String) async throws {
    bench.stub.on(.get, "/items", reply: .encoded(ItemPage(items: [1]), fields: linkField(links)))
    let (items, error) = await collect(bench.api.pages(of: .items, next: .link))
    #expect(items == [1] && error == nil)
  }

  // MARK: From https to http

  private static let http = "http://example.test/2"

  private func expectRefusal(_ error: CallError?) {
    #expect(error?.code == .malformedResponse && error?.requestState == .responded)
    #expect(error?.detail.contains("the server named an http URL") == true)
    #expect(error?.description.contains("breaks the rules of HTTP") == false)
    #expect(urls.allSatisfy { $0.hasPrefix("https://") })
  }

  @Test("The URL of a next page is not requested if it leads from https to http", arguments: [false, true])
  func link(prefetching: Bool) async throws {
    bench.stubPage("/items", [1], next: Self.http)
    bench.stubPage("/2", [2])
    for next in [NextPageURL<ItemPage>.link, .url(\.next)] {
      let pages = bench.api.pages(of: .items, next: next)
      let (items, error) = await collect(prefetching ? pages.prefetching() : pages)
      #expect(items == [1])
      expectRefusal(error)
    }
    #expect(urls.count == 2)
  }

  @Test("A cursor that is a URL is not requested if it leads from https to http")
  func cursor() async throws {
    bench.stubPage("/items", [1], cursor: Self.http)
    bench.stubPage("/2", [2])
    let (items, error) = await collect(
      bench.api.pages(
        of: { (cursor: String?) in Request<ItemPage>.get(cursor.map { .url($0) } ?? "/items") },
        next: .cursor(\.cursor)))
    #expect(items == [1])
    expectRefusal(error)
  }

  @Test("A cursor that is an unusable URL is the server's fault")
  func unusableCursor() async throws {
    bench.stubPage("/items", [1], cursor: "ftp://example.test/2")
    let error = await collect(
      bench.api.pages(
        of: { (cursor: String?) in Request<ItemPage>.get(cursor.map { .url($0) } ?? "/items") },
        next: .cursor(\.cursor))
    ).error
    #expect(error?.code == .malformedResponse && error?.requestState == .responded)
  }

  @Test("A stored position that is an http URL is refused for a list that starts over https")
  func stored() async throws {
    bench.stubPage("/items", [1], next: Self.http)
    bench.stubPage("/2", [2])
    let pages = bench.api.pages(of: .items, next: .link)
    var position: PagePosition?
    for try await step in pages.withPositions {
      position = step.next
      break
    }
    let error = await collect(pages.resuming(at: position)).error
    expectRefusal(error)
  }

  @Test("A poll cursor that is a URL is not requested if the URL leads from https to http")
  func poll() async throws {
    bench.stubPage("/items", [1], cursor: Self.http)
    bench.stubPage("/2", [2])
    let polls = bench.api.poll(
      of: { (cursor: String?) in Request<ItemPage>.get(cursor.map { .url($0) } ?? "/items") }, interval: .zero,
      next: \.cursor)
    var values = polls.makeAsyncIterator()
    #expect(try await values.next()?.items == [1])
    expectRefusal(await nextError(&values))
  }

  /// A request to an http URL that was found in a response received over https.
  private var named: Request<ItemPage> {
    .get(RequestPath.url(Self.http).named(by: Origin(scheme: "https", host: "example.test", port: 443)))
  }

  @Test("Describing the message to a refused URL fails, too")
  func described() async throws {
    let error = await failure { try await bench.api.message(for: named) }
    #expect(error?.code == .malformedResponse)
  }

  @Test("A refused call is not coalesced with a call to the same URL that the app has chosen")
  func coalescing() async throws {
    bench.stub.onAny(reply: .stalled)
    var pipeline = Pipeline()
    pipeline.insert(CoalescingMiddleware(), .after(.coalescing))
    let api = Client(
      environment: Environment(baseURL: "https://example.test"), pipeline: pipeline, transport: bench.stub)
    let own = Task { try await api.send(Request<ItemPage>.get(.url(Self.http)).coalesced()) }
    try await bench.stub.waitForExchanges(1)
    #expect(await failure { try await api.send(named.coalesced()) }?.code == .malformedResponse)
    own.cancel()
    _ = await own.result
  }

  @Test("URLs that the app chooses may be http, and so may their next pages")
  func ownURL() async throws {
    bench.stubPage("/items", [1], next: "/2")
    bench.stubPage("/2", [2], next: "https://example.test/3")
    bench.stubPage("/3", [3])
    let first = Request<ItemPage>.get(.url("http://intranet.test/items"))
    #expect(await collect(bench.api.pages(of: first, next: .link)).items == [1, 2, 3])
    #expect(urls == ["http://intranet.test/items", "http://intranet.test/2", "https://example.test/3"])
    let polls = bench.api.poll(
      from: "http://intranet.test/2", of: { (url: String?) in Request<ItemPage>.get(.url(url ?? "")) },
      interval: .zero, next: \.cursor)
    var values = polls.makeAsyncIterator()
    #expect(try await values.next()?.items == [2])
  }

  // MARK: Lists without end

  /// Stubs a list whose pages each have a new cursor and no elements.
  private func stubEmptyPages(except full: @escaping @Sendable (Int) -> Bool = { _ in false }, last: Int = .max) {
    bench.stub.on { _, _ in
      true
    } reply: { exchange in
      .encoded(
        ItemPage(items: full(exchange.id) ? [exchange.id] : [], cursor: exchange.id < last ? "\(exchange.id)" : nil))
    }
  }

  private var pages: PageSequence<ItemPage> {
    bench.api.pages(of: { .items(after: $0) }, next: .cursor(\.cursor)).pageLimit(.max)
  }

  @Test("A list that continues after a hundred consecutive pages without elements fails", arguments: [false, true])
  func emptyPages(prefetching: Bool) async throws {
    stubEmptyPages(except: { $0 == 3 })
    var iterator = (prefetching ? pages.prefetching() : pages).elements(\.items).makeAsyncIterator()
    #expect(try await iterator.next() == 3)
    let error = await nextError(&iterator)
    #expect(error?.code == .decoding && error?.requestState == .responded)
    #expect(error?.detail == "100 pages in a row have no elements, and the list goes on")
    #expect(error?.trace.events.isEmpty == false)
    #expect(try await iterator.next() == nil)
    // The next page may be in flight.
    #expect((prefetching ? 104...105 : 104...104).contains(bench.targets.count))
  }

  @Test("A list that ends after a hundred empty pages is complete")
  func emptyList() async throws {
    stubEmptyPages(last: 99)
    #expect(try await all(pages.elements(\.items)) == [])
    #expect(bench.targets.count == 100)
  }

  @Test("Empty pages that are collections are detected without a closure")
  func emptyCollections() async throws {
    bench.stub.on { _, _ in
      true
    } reply: {
      .json("[]", fields: linkField("</\($0.id)>; rel=next"))
    }
    let pages = bench.api.pages(of: Request<[Int]>.get("/items"), next: .link).pageLimit(.max)
    var count = 0
    let error = await failure { for try await _ in pages { count += 1 } }
    #expect(error?.detail == "100 pages in a row have no elements, and the list goes on" && count == 99)
    #expect(bench.targets.count == 100)
    let elements = await failure { for try await _ in pages.elements({ $0 }) {} }
    #expect(elements?.detail == error?.detail && bench.targets.count == 200)
  }
}
