import ApusCore
import ApusTesting
import HTTPTypes
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Pages whose responses contain the URL of the next page")
struct NextPageURLTests {
  private let bench = PageBench()

  private func pages(_ next: NextPageURL<ItemPage> = .link) -> PageSequence<ItemPage> {
    bench.api.pages(of: .items, next: next)
  }

  private var urls: [String] { bench.stub.exchanges.map { "\($0.request.origin?.description ?? "")\($0.target)" } }

  @Test(
    "Link fields with rel=next are followed, complete or relative to the response, until a page has no such field",
    arguments: [
      ("/items?page=2", "https://example.test/items?page=2"), ("?page=2", "https://example.test/items?page=2"),
      ("more/2", "https://example.test/more/2"), ("//example.test/2", "https://example.test/2"),
      ("https://other.test/2", "https://other.test/2"), ("HTTPS://Example.test:443/2", "https://example.test/2"),
    ])
  func link(target: String, url: String) async throws {
    bench.stub.onAny(reply: .encoded(ItemPage(items: [2])))
    bench.stubPage("/items?page=1", [1], next: target)
    let pages = bench.api.pages(of: .items(page: 1), next: .link)
    let (items, error) = await collect(pages)
    #expect(items == [1, 2] && error == nil)
    #expect(urls == ["https://example.test/items?page=1", url])
  }

  @Test("Only a Link field whose context is the list itself is followed")
  func otherLinks() async throws {
    let links = #"</1>; rel=prev, </9>; rel="last", </x>; rel=next; anchor="/other""#
    bench.stub.on(.get, "/items", reply: .encoded(ItemPage(items: [1]), fields: linkField(links)))
    #expect(await collect(pages()).items == [1])
    #expect(urls.count == 1)
  }

  @Test("A next URL in the content is followed until it is absent or empty", arguments: [nil, ""] as [String?])
  func content(last: String?) async throws {
    bench.stubPage("/items", [1], next: "/items?page=2")
    bench.stubPage("/items?page=2", [2], next: "https://example.test/items?page=3")
    bench.stubPage("/items?page=3", [3], next: last)
    let (items, error) = await collect(pages(.url { $0.next }))
    #expect(items == [1, 2, 3] && error == nil)
    #expect(bench.targets == ["/items", "/items?page=2", "/items?page=3"])
  }

  @Test("A model may decode the next URL as Foundation's URL")
  func url() async throws {
    struct Page: Decodable, Sendable { let next: URL? }
    bench.stub.on(.get, "/items", reply: .json(#"{"next":"?page=2"}"#))
    bench.stub.on(.get, "/items?page=2", reply: .json("{}"))
    _ = try await all(bench.api.pages(of: Request<Page>.get("/items"), next: .url { $0.next }))
    #expect(bench.targets == ["/items", "/items?page=2"])
  }

  @Test("The next URL replaces path and query; fields, tags and decoding of the endpoint remain")
  func description() async throws {
    bench.stubPage("/items", [1], next: "/2?x=1")
    bench.stubPage("/2", [2])
    let request = Request<ItemPage>.get("/items", query: ["page": 1]).tag("list").field("X-Own", "a")
      .field("X-Key", "secret", isSensitive: true)
    _ = try await all(bench.api.pages(of: request, next: .url(\.next)))
    let next = try #require(bench.stub.exchanges.last)
    #expect(next.target == "/2?x=1" && next.tags == ["list"] && next.endpoint.template == "https://example.test/{url}")
    #expect(next.fields[HTTPField.Name("X-Own") ?? .accept] == "a")
    #expect(next.fields[HTTPField.Name("X-Key") ?? .accept] == "secret")
  }

  @Test("The next page of a POST is a GET without content")
  func method() async throws {
    bench.stub.on(.post, "/search", reply: .encoded(ItemPage(items: [1], next: "/search/2")))
    bench.stubPage("/search/2", [2])
    let request = Request<ItemPage>.post("/search", content: .json(["text": "secret"]))
    #expect(await collect(bench.api.pages(of: request, next: .url(\.next))).items == [1, 2])
    #expect(bench.stub.exchanges.map(\.method) == [.post, .get])
    #expect(bench.stub.exchanges.last?.text == "")
    #expect(bench.stub.exchanges.last?.fields[.contentType] == nil)
  }

  @Test("Only harmless fields of the endpoint are sent to a different origin")
  func otherOrigin() async throws {
    bench.stubPage("/items", [1], next: "https://other.test/2")
    bench.stubPage("/2", [2], next: "https://example.test/3")
    bench.stubPage("/3", [3])
    let request = Request<ItemPage>.get("/items").field("Accept-Language", "de").field("Authorization", "secret")
      .field("X-Tenant", "secret").field("If-Match", "secret", isSensitive: true)
    #expect(await collect(bench.api.pages(of: request, next: .url(\.next))).items == [1, 2, 3])
    let secrets = bench.stub.exchanges.map { $0.fields.count { $0.value == "secret" } }
    #expect(secrets == [3, 0, 3])
    #expect(bench.stub.exchanges.allSatisfy { $0.fields[.acceptLanguage] == "de" })
  }

  @Test(
    "If a next URL is unusable, the call for its page fails, after the previous pages",
    arguments: [
      ("ftp://example.test/2", "the URL has a scheme other than http and https"),
      ("javascript:alert(1)", "the URL has a scheme other than http and https"),
      ("https://user:pw@example.test/2", "the URL"), ("/a\\b", "the URL contains a backslash"),
      ("https://", "the URL"),
    ], [false, true])
  func unusable(_ link: (target: String, reason: String), prefetching: Bool) async throws {
    bench.stubPage("/items", [1], next: link.target)
    let sequence = pages(.url(\.next))
    let (items, error) = await collect(prefetching ? sequence.prefetching() : sequence)
    #expect(items == [1])
    #expect(error?.code == .malformedResponse && error?.requestState == .responded)
    #expect(error?.detail.hasPrefix(link.reason) == true && error?.description.contains("prepared") == false)
    #expect(bench.targets == ["/items"])
  }

  @Test(
    "A next URL that was returned before is an error, independent of its spelling",
    arguments: [
      ["/items"], ["https://EXAMPLE.test:443/items"], ["/2", "/items"], ["/2", "/2"], ["/2", "/3", "./2"],
      ["/2", "/3", "/4", "/3"],
    ])
  func loop(links: [String]) async throws {
    let targets = ["/items"] + links.dropLast()
    for (target, next) in zip(targets, links) { bench.stubPage(target, [1], next: next) }
    let (items, error) = await collect(pages(.url(\.next)))
    #expect(error?.code == .decoding)
    #expect(error?.detail == "the list leads back to a page that it contained before")
    #expect(error?.trace.events.isEmpty == false)
    #expect(items.count == targets.count && bench.targets == targets)
  }

  @Test("Equal pages with different URLs are allowed")
  func equalPages() async throws {
    let replies = ["</2>; rel=next", "</3>; rel=next", nil].map { StubReply.json("[]", fields: linkField($0)) }
    for (target, reply) in zip(["/1", "/2", "/3"], replies) { bench.stub.on(.get, target, reply: reply) }
    #expect(try await all(bench.api.pages(of: Request<[Int]>.get("/1"), next: .link)).count == 3)
  }

  @Test("Pages of a `Content` endpoint are decoded with `decoded(as:)`")
  func contentEndpoint() async throws {
    bench.stubPage("/items", [1], next: "/2")
    bench.stubPage("/2", [2])
    let pages = bench.api.pages(of: ItemAPI.all.decoded(as: ItemPage.self), next: .url(\.next))
    #expect(await collect(pages).items == [1, 2])
  }
}
