import Apus
import ApusTestServer
import Testing

@Suite("A fault of real transports that must not occur")
struct UnauthorizedOnTheWireTests {
  @Test(
    "A 401 with any challenge ends each call with that status", .timeLimit(.minutes(2)),
    arguments: [
      "Basic realm=\"x\"", "Bearer error=\"invalid_token\"", "Digest realm=\"x\", nonce=\"1\"", "Negotiate", "", nil,
    ])
  func challenges(challenge: String?) async throws {
    let reply = Reply.json(#"{"message":"Sign in."}"#, status: 401).setting("WWW-Authenticate", to: challenge)
    let events = Log<SessionEnd>()
    try await TestServer.with { _ in
      reply
    } body: { server in
      let api = server.client {
        $0.authentication = .bearer(MemoryCredentialsStore(token: "old"))
        $0.onSessionEnd = events.add
        $0.timeout = nil
      }
      for _ in 0..<2 {
        let error = await failure { try await api.send(.ping) }
        #expect(error?.status == 401)
        #expect(error?.errorDescription == "Sign in.")
      }
      #expect(events.all.count == 1)
      #expect(api.calls.isEmpty)
    }
  }
}
