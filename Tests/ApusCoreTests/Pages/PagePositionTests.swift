import ApusCore
import ApusTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Positions of pages")
struct PagePositionTests {
  private let bench = PageBench()
  private var api: Client { bench.api }

  private func position(_ json: String) throws -> PagePosition {
    try JSONDecoder().decode(PagePosition.self, from: Data(json.utf8))
  }

  /// The page sequences of each kind of paging, by the key in the JSON of their positions.
  private var sequences: [String: PageSequence<ItemPage>] {
    [
      "url": api.pages(of: .items, next: .url(\.next)),
      "cursor": api.pages(of: { .items(after: $0) }, next: .cursor { $0.cursor }),
      "page": api.pages(of: { .items(page: $0) }, next: .number { _ in true }),
      "offset": api.pages(of: { .items(offset: $0) }, next: .offset { $0.items.count }),
    ]
  }

  private static let stored = [
    ("url", #"{"url":"https:\/\/example.test\/items?page=2"}"#, "/items?page=2"),
    ("cursor", #"{"cursor":"\"c\""}"#, "/items?after=c"),
    ("page", #"{"page":2}"#, "/items?page=2"),
    ("offset", #"{"offset":1}"#, "/items?offset=1"),
  ]

  @Test("The position after each page is that of the next page, and nil after the last page")
  func positions() async throws {
    bench.stubPages(3)
    let steps = try await all(bench.numbered.withPositions)
    #expect(steps.map(\.page.items) == [[1, 2], [3, 4], [5, 6]])
    #expect(try steps.map(\.next) == [position(#"{"page":2}"#), position(#"{"page":3}"#), nil])
  }

  @Test("A list can be resumed in another process at a stored position, which is small", arguments: stored)
  func resuming(kind: String, json: String, target: String) async throws {
    bench.stub.onAny(reply: .encoded(ItemPage(items: [1], number: 1, total: 9, next: "/items?page=2", cursor: "c")))
    let pages = try #require(sequences[kind])
    var iterator = pages.withPositions.makeAsyncIterator()
    let next = try #require(try await iterator.next()?.next)
    #expect(String(decoding: try JSONEncoder().encode(next), as: UTF8.self) == json)
    let resumed = try position(json)
    #expect(resumed == next && resumed.hashValue == next.hashValue)
    var second = pages.resuming(at: resumed).makeAsyncIterator()
    #expect(try await second.next()?.items == [1])
    #expect(bench.targets.last == target)
  }

  @Test("Without a position the list starts at its first page")
  func noPosition() async throws {
    bench.stubPages(1)
    #expect(await collect(bench.numbered.resuming(at: nil)).items == [1, 2])
  }

  @Test("A resumed list continues to its end, with the position after each page")
  func goingOn() async throws {
    bench.stubPages(4)
    let steps = try await all(bench.numbered.resuming(at: position(#"{"page":3}"#)).withPositions)
    #expect(steps.map(\.page.number) == [3, 4])
    #expect(try steps.map(\.next) == [position(#"{"page":4}"#), nil])
  }

  @Test("A position of another kind is an error, and no request is sent", arguments: stored.map(\.0), stored.map(\.1))
  func mismatch(kind: String, json: String) async throws {
    guard !json.contains("\"\(kind)\"") else { return }
    let pages = try #require(sequences[kind]).resuming(at: position(json))
    var iterator = pages.makeAsyncIterator()
    let error = await nextError(&iterator)
    #expect(error?.code == .invalidRequest && error?.requestState == .notSent)
    #expect(error?.detail == "the position does not belong to this sequence of pages")
    #expect(try await iterator.next() == nil)
    #expect(bench.targets.isEmpty)
  }

  @Test(
    "A stored cursor of another type is an error",
    arguments: [#"{"cursor":"\"c\""}"#, #"{"cursor":""}"#, #"{"cursor":"not JSON"}"#, #"{"cursor":"null"}"#])
  func otherCursor(json: String) async throws {
    let pages = try api.pages(of: { .items(afterID: $0) }, next: .cursor { $0.items.last }).resuming(at: position(json))
    #expect(await collect(pages).error?.detail == "the position does not belong to this sequence of pages")
    #expect(bench.targets.isEmpty)
  }

  @Test(
    "A stored position with an unusable URL is an error",
    arguments: ["ftp://example.test/", "/items", "", "https://a b/"])
  func badURL(url: String) async throws {
    let json = String(decoding: try JSONEncoder().encode(["url": url]), as: UTF8.self)
    let (_, error) = await collect(try #require(sequences["url"]).resuming(at: try position(json)))
    #expect(error?.code == .invalidRequest && error?.requestState == .notSent)
    #expect(bench.targets.isEmpty)
  }

  @Test(
    "Decoding a position from other JSON fails",
    arguments: ["{}", "[]", "1", #"{"page":"2"}"#, #"{"page":1,"offset":2}"#, #"{"cursor":1}"#, #"{"other":1}"#])
  func undecodable(json: String) {
    #expect(throws: DecodingError.self) { try position(json) }
  }

  @Test("A position with an unusable link can be stored, and fails again when the list is resumed")
  func unusable() async throws {
    bench.stubPage("/items", [1], next: "ftp://example.test/secret")
    let pages = try #require(sequences["url"])
    var iterator = pages.withPositions.makeAsyncIterator()
    let next = try #require(try await iterator.next()?.next)
    let json = String(decoding: try JSONEncoder().encode(next), as: UTF8.self)
    #expect(!json.contains("secret"))
    let error = await collect(pages.resuming(at: try position(json))).error
    #expect(error?.detail == "the URL has a scheme other than http and https")
    #expect(bench.targets == ["/items"])
  }

  @Test("The description of a position contains neither URL nor cursor")
  func redaction() throws {
    for json in [#"{"url":"https://secret.test/"}"#, #"{"cursor":"\"secret\""}"#, #"{"unusable":"secret"}"#] {
      let position = try position(json)
      #expect(!"\(position) \(String(reflecting: position))".contains("secret"))
      var dumped = ""
      dump(position, to: &dumped)
      dump(PositionedPage(page: 1, next: position), to: &dumped)
      #expect(!dumped.contains("secret"))
    }
    #expect(try position(#"{"page":2}"#).description == "page 2")
    #expect(try position(#"{"offset":20}"#).description == "offset 20")
    #expect(try position(#"{"url":"/"}"#).description == "a URL")
  }
}
