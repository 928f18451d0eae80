#if os(Linux)
import Apus
import ApusNIO
import ApusTestServer
import Foundation
import Synchronization
import Testing

@Suite("A refresh with idle connections")
struct RefreshOnTheWireTests {
  /// A server that serves one request per connection and closes the connection when the next request arrives, as if its
  /// idle timeout had just ended. Each refresh issues the next generation of tokens.
  private final class ForgetfulServer: Sendable {
    private struct State {
      var served: Set<Int> = []
      var generation = 1
      var refreshes = 0
    }

    private let state = Mutex(State())

    var refreshes: Int { state.withLock { $0.refreshes } }

    func reply(to request: RecordedRequest) -> Reply {
      state.withLock { state in
        guard state.served.insert(request.connection).inserted else { return Reply(steps: []) }
        if request.path == "/token" {
          state.refreshes += 1
          state.generation += 1
          let next = state.generation
          return .json(#"{"access_token":"a\#(next)","refresh_token":"r\#(next)"}"#)
        }
        let isGood = request.fields["Authorization"] == "Bearer a2"
        return isGood ? .status(204) : .status(401, fields: ["WWW-Authenticate": "Bearer"])
      }
    }
  }

  @Test("A refresh uses a new connection, so that a concurrently closed idle connection fails no call")
  func ownConnection() async throws {
    let forgetful = ForgetfulServer()
    try await TestServer.with {
      forgetful.reply(to: $0)
    } body: { server in
      let tokens = MemoryCredentialsStore(.tokens(Tokens(access: "a1", refresh: "r1")))
      let api = server.client { $0.authentication = .bearer(tokens) { try await $0.tokens(from: "/token") } }
      let failures = await withTaskGroup(of: CallError?.self) { group in
        for _ in 0..<20 { group.addTask { await failure { try await api.send(.ping) } } }
        return await group.reduce(into: [CallError]()) { failures, error in
          if let error { failures.append(error) }
        }
      }
      #expect(failures.isEmpty)
      #expect(forgetful.refreshes == 1)
    }
  }
}
#endif
