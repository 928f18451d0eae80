import Apus
import ApusTestServer
import ApusTesting
import TestSupport
import Testing

@Suite("29: timeouts in virtual time")
struct Capability29TimeoutsTests {
  private let clock = ManualClock(.manual)

  private func client(of server: TestServer, limit: Duration? = .seconds(30)) -> Client {
    server.client {
      $0.clock = clock
      $0.timeout = limit
    }
  }

  @Test("A server that never responds causes a timeout while awaiting the head, and the connection is closed")
  func head() async throws {
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      let api = client(of: server)
      async let outcome = failure { try await api.send(.ping) }
      let exchange = try await server.exchange()
      try await clock.waitForSleepers(1)
      // The server may have the request a moment before the transport reports it as sent.
      try await waitWhile(api.calls.all.first?.phase != .afterSending)
      clock.advance(by: .seconds(30))
      let error = try #require(await outcome)
      #expect(error.code == .timeout)
      #expect(error.phase == .afterSending)
      #expect(error.requestState == .maybeSent)
      try await server.waitForClientClose(of: exchange)
    }
  }

  @Test("A server that stops inside the content causes a timeout while receiving content")
  func content() async throws {
    try await TestServer.with { _ in
      Reply.text("0123456789").stalling(at: .content(4))
    } body: { server in
      let api = client(of: server)
      async let outcome = failure { try await api.send(Request<String>.get("/a").timeout(.seconds(5))) }
      try await server.exchange()
      try await waitWhile(api.calls.all.first?.received.bytes ?? 0 < 4)
      clock.advance(by: .seconds(5))
      let error = try #require(await outcome)
      #expect(error.code == .timeout)
      #expect(error.phase == .receiving)
      #expect(error.requestState == .responded)
    }
  }

  private struct Wait: Middleware {
    let gate = Gate()

    func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
      try await gate.wait()
      return try await next(request, context: context)
    }
  }

  @Test("A call that waits before it is sent times out in the phase waiting, and no request is sent")
  func waiting() async throws {
    try await TestServer.with { _ in
      .status(204)
    } body: { server in
      let wait = Wait()
      let api = server.client {
        $0.clock = clock
        $0.timeout = .seconds(30)
        $0.customizePipeline = { $0.insert(wait, .after(.scheduling)) }
      }
      async let outcome = failure { try await api.send(.ping) }
      try await wait.gate.waitForArrivals(1)
      try await clock.waitForSleepers(1)
      clock.advance(by: .seconds(30))
      #expect(await outcome?.phase == .waiting)
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test("With the system clock, a stalled call times out, too")
  func systemClock() async throws {
    try await withServer(answering: .stalled) { api, _ in
      let start = ContinuousClock.now
      let error = await failure { try await api.send(.ping.timeout(.milliseconds(150))) }
      #expect(error?.code == .timeout)
      #expect(start.duration(to: .now) >= .milliseconds(150))
      // The call's own timeout has ended the call, not the transport's timeout.
      #expect(start.duration(to: .now) < .seconds(200))
    }
  }
}
