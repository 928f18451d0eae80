import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@Suite("Pages with a cursor, a number or an offset")
struct NextPageParameterTests {
  private let bench = PageBench()
  private var api: Client { bench.api }

  @Test(
    "The first page is requested without a cursor, each later page with the cursor of the previous page",
    arguments: [nil, ""] as [String?])
  func cursor(last: String?) async throws {
    bench.stubPage("/items", [1], cursor: "b c")
    bench.stubPage("/items?after=b%20c", [2], cursor: "d")
    bench.stubPage("/items?after=d", [3], cursor: last)
    let (items, error) = await collect(api.pages(of: { .items(after: $0) }, next: .cursor { $0.cursor }))
    #expect(items == [1, 2, 3] && error == nil)
    #expect(bench.targets == ["/items", "/items?after=b%20c", "/items?after=d"])
  }

  @Test("A cursor may have any Codable type, for example the id of the last element")
  func typedCursor() async throws {
    bench.stubPage("/items", [1, 2])
    bench.stubPage("/items?after=2", [5])
    bench.stubPage("/items?after=5", [])
    let (items, error) = await collect(api.pages(of: { .items(afterID: $0) }, next: .cursor { $0.items.last }))
    #expect(items == [1, 2, 5] && error == nil)
    #expect(bench.targets == ["/items", "/items?after=2", "/items?after=5"])
  }

  @Test("A cursor may be compound")
  func compoundCursor() async throws {
    struct Cursor: Codable, Sendable {
      var time: Int
      var id: String
    }
    struct Page: Codable, Sendable { var next: Cursor? }
    bench.stub.on(.get, "/", reply: .json(#"{"next":{"time":7,"id":"x"}}"#))
    bench.stub.on(.get, "/?time=7&id=x", reply: .json("{}"))
    let pages = api.pages(
      of: { (cursor: Cursor?) in
        Request<Page>.get("/", query: cursor.map { ["time": $0.time, "id": $0.id] } ?? [:])
      }, next: .cursor(\.next))
    #expect(try await all(pages).count == 2)
    #expect(bench.targets == ["/", "/?time=7&id=x"])
  }

  @Test("If a cursor cannot be encoded, the next page fails")
  func unencodableCursor() async throws {
    bench.stub.on(.get, "/", reply: .json("1"))
    let pages = api.pages(
      of: { (_: Double?) in Request<Int>.get("/") }, next: .cursor { _ in Double.infinity })
    var iterator = pages.makeAsyncIterator()
    #expect(try await iterator.next() == 1)
    let error = await nextError(&iterator)
    #expect(error?.code == .invalidRequest && error?.detail == "the cursor of the next page cannot be encoded")
    #expect(bench.targets.count == 1)
  }

  @Test(
    "A cursor that was returned before is an error at any page of the loop",
    arguments: [["a", "a"], ["a", "b", "a"], ["a", "b", "c", "d", "b"]])
  func repeatedCursor(cursors: [String]) async throws {
    let targets = ["/items"] + cursors.dropLast().map { "/items?after=\($0)" }
    for (target, cursor) in zip(targets, cursors) { bench.stubPage(target, [1], cursor: cursor) }
    let (items, error) = await collect(api.pages(of: { .items(after: $0) }, next: .cursor { $0.cursor }))
    #expect(error?.code == .decoding)
    #expect(error?.detail == "the list leads back to a page that it contained before")
    #expect(items.count == targets.count && bench.targets == targets)
  }

  @Test("Page numbers start at 1 or at a specified number", arguments: [1, 0, -1])
  func first(number: Int) async throws {
    for page in number...2 {
      bench.stub.on(.get, "/items?page=\(page)", reply: .encoded(ItemPage(items: [page], number: page, total: 2)))
    }
    let next: NextPageParameter<Int, ItemPage> =
      number == 1 ? .number { !$0.isLast } : .number(from: number) { !$0.isLast }
    let (items, error) = await collect(api.pages(of: { .items(page: $0) }, next: next))
    #expect(items == Array(number...2) && error == nil)
  }

  @Test("The offset grows by the number of elements, and the list ends at an empty page")
  func offset() async throws {
    for (offset, items) in [(0, [1, 2, 3]), (3, [4]), (4, [])] {
      bench.stubPage("/items?offset=\(offset)", items)
    }
    let (items, error) = await collect(api.pages(of: { .items(offset: $0) }, next: .offset { $0.items.count }))
    #expect(items == [1, 2, 3, 4] && error == nil)
    #expect(bench.targets == ["/items?offset=0", "/items?offset=3", "/items?offset=4"])
  }

  @Test("A closure can end the list before an empty page, and offsets can start at a specified number")
  func lastOffset() async throws {
    bench.stubPage("/items?offset=10", [1, 2])
    bench.stubPage("/items?offset=12", [3])
    let pages = api.pages(
      of: { .items(offset: $0) },
      next: .offset(from: 10) {
        $0.items.count
      } while: {
        $0.items.count == 2
      })
    #expect(await collect(pages).items == [1, 2, 3])
    #expect(bench.targets == ["/items?offset=10", "/items?offset=12"])
  }

  @Test("A negative number of elements ends the list, and a number that is too large fails the next page")
  func strangeCounts() async throws {
    bench.stubPage("/items?offset=1", [1])
    let ended = api.pages(of: { .items(offset: $0) }, next: .offset(from: 1) { _ in -1 })
    #expect(await collect(ended).error == nil)
    let overflowing = api.pages(of: { .items(offset: $0) }, next: .offset(from: 1) { _ in .max })
    let (items, error) = await collect(overflowing)
    #expect(items == [1] && error?.code == .invalidRequest)
    #expect(error?.detail == "the page number or offset is too large")
    #expect(bench.targets.count == 2)
  }

  @Test("A server that ignores the page number or the offset is detected at the second page", arguments: [false, true])
  func equalPages(prefetching: Bool) async throws {
    bench.stub.on(.get, "/items", reply: .encoded(ItemPage(items: [1], number: 1, total: 9)))
    for pages in [bench.numbered, api.pages(of: { .items(offset: $0) }, next: .offset { $0.items.count })] {
      let (items, error) = await collect(prefetching ? pages.prefetching() : pages)
      #expect(items == [1])
      #expect(error?.code == .decoding && error?.requestState == .responded)
      #expect(error?.detail == "two pages in a row are the same")
      #expect(error?.trace.events.isEmpty == false)
    }
    #expect(bench.targets.count == 4)
  }

  @Test("Long pages that differ in one byte are different pages")
  func similarPages() async throws {
    let long = String(repeating: "x", count: 5000)
    bench.stub.on(.get, "/items", replies: ["a", "b", "end"].map { .text(long + $0) })
    let pages = api.pages(
      of: { Request<String>.get("/items", query: ["page": $0]) }, next: .number { !$0.hasSuffix("end") })
    #expect(try await all(pages).count == 3)
  }

  @Test("Equal pages are allowed if the page number is the cursor")
  func equalPagesOfACursor() async throws {
    struct Page: Codable, Sendable {
      let number: Int
      let items: [Int]
    }
    bench.stub.on(
      .get, "/items",
      replies: [1, 2, 3].map { .encoded(Page(number: $0, items: $0 == 3 ? [1] : [])) })
    let pages = api.pages(
      of: { (number: Int?) in Request<Page>.get("/items", query: ["page": number ?? 1]) },
      next: .cursor { $0.items.isEmpty ? $0.number + 1 : nil })
    #expect(try await all(pages).map(\.number) == [1, 2, 3])
  }
}
