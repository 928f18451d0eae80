import Apus
import ApusTestServer
import Testing

@Suite("21: the latest call wins")
struct Capability21LatestWinsTests {
  @Test("A newer call with the same key supersedes the running call, whose result never reaches the app")
  func superseded() async throws {
    let gate = Gate()
    try await TestServer.with { request in
      request.number == 0 ? Reply.text("old").waiting(for: gate) : .text("new")
    } body: { server in
      let api = server.client()
      let request = Request<String>.get("/search").latestWins("search")
      async let old = failure { try await api.send(request) }
      let exchange = try await server.exchange()
      let new = try await api.send(request)
      let error = await old
      #expect(new == "new")
      #expect(error?.code == .cancelled)
      #expect(error?.cancellation == .superseded)
      try await server.waitForClientClose(of: exchange)
      gate.open()
    }
  }

  @MainActor
  private final class Screen {
    let api: Client
    var text = ""
    var spinning = 0
    var isSpinning: Bool { spinning > 0 }
    /// The texts that the screen has shown, in order.
    var shown: [String] = []

    init(api: Client) { self.api = api }

    func search(_ text: String) async {
      spinning += 1
      defer { spinning -= 1 }
      do throws(CallError) {
        self.text = try await api.send(Request<String>.get("/\(text)").latestWins("search"))
        shown.append(self.text)
      } catch {
        if !error.isCancellation { shown.append(error.errorDescription ?? "") }
      }
    }
  }

  @Test("A screen tapped ten times shows only the last response, and a spinner until then")
  @MainActor
  func taps() async throws {
    let gate = Gate()
    try await TestServer.with { request in
      request.path == "/9"
        ? Reply.text("9").waiting(for: gate) : Reply.text(String(request.path.dropFirst())).waiting(for: Gate())
    } body: { server in
      let screen = Screen(api: server.client())
      var taps: [Task<Void, Never>] = []
      for index in 0..<10 {
        taps.append(Task { await screen.search("\(index)") })
        try await server.exchanges(atLeast: index + 1)
      }
      for tap in taps.dropLast() { await tap.value }
      #expect(screen.shown.isEmpty)
      #expect(screen.isSpinning)
      gate.open()
      await taps.last?.value
      #expect(screen.shown == ["9"])
      #expect(!screen.isSpinning)
    }
  }
}
