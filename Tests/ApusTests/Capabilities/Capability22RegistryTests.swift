import Apus
import ApusTestServer
import HTTPTypes
import TestSupport
import Testing

@Suite("22: the calls in flight")
struct Capability22RegistryTests {
  private struct GetImage: Endpoint {
    let id: Int
    var request: Request<String> { .get("/images/\(id)") }
  }

  @Test("Running calls are listed and found by id, tag and endpoint, with their state")
  func found() async throws {
    let gate = Gate()
    try await withServer(answering: Reply.text("x").waiting(for: gate)) { api, server in
      let user = Request<String>.get("/users/\(7)").id("user", onDuplicate: .allow)
      async let first = api.send(user)
      async let second = api.send(GetImage(id: 1).tag("images", "slow"))
      async let third = api.send(GetImage(id: 2).tag("images"))
      try await server.exchanges(atLeast: 3)
      #expect(api.calls.count == 3)
      #expect(Set(api.calls.all.map(\.endpoint.template)) == ["/users/{}", "/images/{}"])
      #expect(api.calls.calls(id: "user").map(\.endpoint.template) == ["/users/{}"])
      #expect(api.calls.calls(tag: "images").count == 2)
      #expect(api.calls.calls(tag: "slow").count == 1)
      #expect(api.calls.calls(endpoint: GetImage.self).count == 2)
      let entry = try #require(api.calls.calls(id: "user").first)
      #expect(entry.request?.path == "/users/7")
      // The server may have the request a moment before the transport reports it as sent.
      try await waitWhile(entry.phase != .afterSending)
      #expect(!entry.isEnded)
      gate.open()
      _ = try await (first, second, third)
      #expect(api.calls.isEmpty)
      #expect(entry.isEnded)
    }
  }

  @Test("A registry entry has the head of the response and the number of bytes received")
  func progress() async throws {
    try await withServer(answering: Reply.text("0123456789").stalling(at: .content(4))) { api, server in
      async let outcome = failure { try await api.send(Request<String>.get("/a")) }
      try await server.exchange()
      let entry = try #require(api.calls.all.first)
      try await waitWhile(entry.received.bytes < 4)
      #expect(entry.received.bytes == 4)
      #expect(entry.received.expected == 10)
      #expect(entry.head?.status == .ok)
      #expect(entry.phase == .receiving)
      entry.cancel()
      let error = await outcome
      #expect(error?.cancellation == .requested)
    }
  }

  @Test("Cancelling by id, tag, endpoint, predicate and all reaches exactly the matching calls")
  func cancelled() async throws {
    try await withServer(answering: .stalled) { api, server in
      let ended = Log<String>()
      var tasks: [Task<Void, Never>] = []
      func start(_ name: String, _ request: Request<String>) {
        tasks.append(
          Task {
            let error = await failure { try await api.send(request) }
            if error?.cancellation == .requested { ended.add(name) }
          })
      }
      start("id", .get("/a").id("one", onDuplicate: .allow))
      start("tag", .get("/a").tag("images"))
      start("plain", GetImage(id: 1).request.modified { _ in })
      start("rule", .get("/rule"))
      start("all", .get("/a"))
      start("type", GetImage(id: 1).tag("typed"))
      try await server.exchanges(atLeast: 6)
      #expect(api.calls.cancel(id: "nobody") == 0)
      #expect(api.calls.cancel(id: "one") == 1)
      #expect(api.calls.cancel(tag: "images") == 1)
      #expect(api.calls.cancel(endpoint: GetImage.self) == 1)
      #expect(api.calls.cancel { $0.endpoint.template == "/rule" } == 1)
      for index in [0, 1, 3, 5] { await tasks[index].value }
      #expect(Set(ended.all) == ["id", "tag", "rule", "type"])
      #expect(api.calls.count == 2)
      #expect(api.calls.cancelAll() == 2)
      for task in tasks { await task.value }
      #expect(ended.all.count == 6)
      #expect(api.calls.isEmpty)
    }
  }

  @Test(
    "No call stays registered after success, rejection, failure or cancellation, and its id can be reused immediately",
    arguments: [Reply.text("x"), .status(500), .closed, .stalled])
  func empty(reply: Reply) async throws {
    try await withServer(answering: reply) { api, server in
      for round in 0..<3 {
        let request = Request<String>.get("/a").id("same", onDuplicate: .refuse)
        let call = Task { await failure { try await api.send(request) } }
        try await server.exchanges(atLeast: round + 1)
        if case .stall? = reply.steps.first { api.calls.cancelAll() }
        let error = await call.value
        #expect(error?.code != .refused)
        #expect(api.calls.isEmpty)
        #expect(api.calls.calls(id: "same").isEmpty)
      }
    }
  }
}
