import Apus
import ApusTestServer
import Foundation
import Testing

@Suite("35: calls in sequence, in parallel and in pages")
struct Capability35SequencesTests {
  private struct Page: Codable, Sendable {
    var page: Int
    var total: Int
    var items: [String]
  }

  private static func page(_ number: Int) -> Request<Page> { .get("/items", query: ["page": number]) }

  /// Returns a page of two items, or 404 for a number beyond the last.
  private static func reply(to request: RecordedRequest) -> Reply {
    let number = request.query.flatMap(formItems)?.first?[1]
    guard let number = number.flatMap({ Int($0) }), (1...3).contains(number) else { return .status(404) }
    return .json(#"{"page":\#(number),"total":3,"items":["\#(number)a","\#(number)b"]}"#)
  }

  @Test("The pages of a list are a sequence that ends after the last, with one request per page")
  func pages() async throws {
    try await TestServer.with {
      Self.reply(to: $0)
    } body: { server in
      var items: [String] = []
      for try await page in server.client().pages(of: Self.page, next: .number { $0.page < $0.total }) {
        items += page.items
      }
      #expect(items == ["1a", "1b", "2a", "2b", "3a", "3b"])
      #expect(server.exchanges.map(\.target) == ["/items?page=1", "/items?page=2", "/items?page=3"])
    }
  }

  @Test("Leaving a loop over pages early requests no more pages; a failing page ends the loop with its error")
  func pagesLeft() async throws {
    try await TestServer.with {
      Self.reply(to: $0)
    } body: { server in
      let api = server.client()
      for try await page in api.pages(of: Self.page, next: .number { _ in true }) where page.page == 2 { break }
      #expect(server.exchanges.count == 2)
      var seen = 0
      let error = await failure {
        for try await _ in api.pages(of: Self.page, next: .number { _ in true }) { seen += 1 }
      }
      #expect(seen == 3)
      #expect(error?.status == 404)
      #expect(server.exchanges.count == 6)
    }
  }

  /// Returns a page with a relative link to the next page.
  private static func linkedReply(to request: RecordedRequest) -> Reply {
    let reply = reply(to: request)
    let number = request.query.flatMap(formItems)?.first?[1]
    guard let number = number.flatMap({ Int($0) }), number < 3 else { return reply }
    return reply.setting("Link", to: #"<?page=\#(number + 1)>; rel="next""#)
  }

  @Test("A loop over a list with links resumes at a stored position, with prefetched pages")
  func linkedPages() async throws {
    try await TestServer.with {
      Self.linkedReply(to: $0)
    } body: { server in
      let pages = server.client().pages(of: Self.page(1), next: .link)
      var stored: PagePosition?
      for try await step in pages.withPositions where step.page.page == 1 {
        stored = step.next
        break
      }
      let position = try JSONDecoder().decode(PagePosition.self, from: JSONEncoder().encode(stored))
      var items: [String] = []
      for try await item in pages.resuming(at: position).prefetching().elements(\.items) { items.append(item) }
      #expect(items == ["2a", "2b", "3a", "3b"])
      #expect(server.exchanges.map(\.target) == ["/items?page=1", "/items?page=2", "/items?page=3"])
    }
  }

  @Test("Leaving a loop over pages cancels a prefetched page in flight")
  func prefetchedPageLeft() async throws {
    try await TestServer.with {
      $0.query == "page=2" ? .stalled : Self.linkedReply(to: $0)
    } body: { server in
      let api = server.client()
      for try await _ in api.pages(of: Self.page(1), next: .link).prefetching() {
        try await server.exchanges(atLeast: 2)
        break
      }
      try await server.waitForClientClose(of: server.exchange { $0.target == "/items?page=2" })
    }
  }

  @Test("Calls with async let are in flight concurrently, and each returns its own value")
  func parallel() async throws {
    let gate = Gate()
    try await TestServer.with {
      .text($0.path).waiting(for: gate)
    } body: { server in
      let api = server.client()
      async let first = api.send(Request<String>.get("/1"))
      async let second = api.send(Request<String>.get("/2"))
      async let third = api.send(Request<String>.get("/3"))
      // No response is sent before all requests have arrived.
      try await server.exchanges(atLeast: 3)
      gate.open()
      let values = try await [first, second, third]
      #expect(values == ["/1", "/2", "/3"])
      #expect(server.peakInFlight == 3)
    }
  }

  @Test("A failing child cancels its siblings, and their connections are closed")
  func failedChild() async throws {
    let gate = Gate()
    try await TestServer.with {
      $0.path == "/fails" ? Reply.status(500).waiting(for: gate) : .stalled
    } body: { server in
      let api = server.client()
      let both = Task {
        async let stalled = api.send(Request<String>.get("/stalled"))
        async let fails = api.send(Request<String>.get("/fails"))
        return try await (fails, stalled)
      }
      try await server.exchanges(atLeast: 2)
      gate.open()
      let error = await failure { try await both.value }
      #expect(error?.status == 500)
      try await server.waitForClientClose(of: server.exchange { $0.path == "/stalled" })
      #expect(api.calls.isEmpty)
    }
  }

  @Test("Cancelling a task cancels all its children", arguments: [false, true])
  func cancelledParent(inGroup: Bool) async throws {
    try await withServer(answering: .stalled) { api, server in
      let codes = Log<CallError.Code?>()
      @Sendable func child(_ index: Int) async {
        codes.add(await failure { try await api.send(.get("/\(index)")) }?.code)
      }
      let parent = Task {
        if inGroup {
          await withTaskGroup(of: Void.self) { group in
            for index in 0..<3 { group.addTask { await child(index) } }
          }
        } else {
          async let first: Void = child(0)
          async let second: Void = child(1)
          async let third: Void = child(2)
          _ = await (first, second, third)
        }
      }
      let exchanges = try await server.exchanges(atLeast: 3)
      parent.cancel()
      await parent.value
      #expect(codes.all == [.cancelled, .cancelled, .cancelled])
      for exchange in exchanges { try await server.waitForClientClose(of: exchange) }
      #expect(api.calls.isEmpty)
    }
  }

  @Test("A call that depends on a failed call is not sent")
  func sequence() async throws {
    try await TestServer.with {
      $0.path == "/me" ? ($0.number == 0 ? .json(#"{"id":7,"name":"Ann"}"#) : .status(503)) : .json("[]")
    } body: { server in
      let api = server.client()
      @Sendable func friendsOfMine() async throws(CallError) -> [User] {
        let me: User = try await api.send(Request.get("/me"))
        return try await api.send(Request.get("/users/\(me.id)/friends"))
      }
      let friends = try await friendsOfMine()
      #expect(friends == [])
      let error = await failure { try await friendsOfMine() }
      #expect(error?.status == 503)
      #expect(server.exchanges.map(\.target) == ["/me", "/users/7/friends", "/me"])
    }
  }
}
