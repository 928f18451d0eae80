import Apus
import ApusTestServer
import Synchronization
import Testing

/// A server that accepts the latest access token, and each refresh token once.
private final class Sessions: Sendable {
  private let last = Mutex(1)

  func answer(_ request: RecordedRequest) -> Reply {
    last.withLock { last in
      if request.path == "/token" {
        guard request.text == "grant_type=refresh_token&refresh_token=r\(last)" else {
          return .json(#"{"error":"invalid_grant"}"#, status: 400)
        }
        last += 1
        return .json(#"{"access_token":"a\#(last)","refresh_token":"r\#(last)"}"#)
      }
      return request.fields["Authorization"] == "Bearer a\(last)" ? .status(204) : .status(401)
    }
  }

  /// Revokes all tokens.
  func forget() {
    last.withLock { $0 += 1000 }
  }
}

@Suite("10: unauthorized responses, handled in one place")
struct Capability10UnauthorizedTests {
  private let tokens = MemoryCredentialsStore(.tokens(Tokens(access: "a0", refresh: "r1")))
  private let sessions = Sessions()
  private let events = Log<SessionEnd>()

  private func client(of server: TestServer) -> Client {
    server.client {
      $0.authentication = .bearer(tokens) { try await $0.tokens(from: "/token") }
      $0.onSessionEnd = events.add
    }
  }

  @Test("A hundred concurrent 401s cause one refresh and one retry of each call, and all calls succeed")
  func once() async throws {
    try await TestServer.with { [sessions] in
      sessions.answer($0)
    } body: { server in
      let api = client(of: server)
      try await withThrowingTaskGroup { group in
        for _ in 0..<100 { group.addTask { try await api.send(.ping) } }
        try await group.waitForAll()
      }
      let paths = server.exchanges.map(\.path)
      #expect(paths.count { $0 == "/token" } == 1)
      // Calls started during the refresh were sent once.
      #expect((101...201).contains(paths.count))
      #expect(server.exchanges.count { $0.status == 204 } == 100)
      #expect(tokens.current().credential == .tokens(Tokens(access: "a2", refresh: "r2")))
      #expect(events.all.isEmpty)
    }
  }

  @Test("When the refresh fails, every call throws an error, and the app is notified once that the session has ended")
  func over() async throws {
    try await TestServer.with { [sessions] in
      sessions.answer($0)
    } body: { server in
      sessions.forget()
      let api = client(of: server)
      await withTaskGroup { group in
        for _ in 0..<20 {
          group.addTask {
            do throws(CallError) {
              try await api.send(.ping)
              Issue.record("it was accepted")
            } catch {
              #expect(error.isSessionOver, "\(error)")
            }
          }
        }
      }
      #expect(server.exchanges.count { $0.path == "/token" } == 1)
      #expect(tokens.current().credential == nil)
      #expect(events.all.map(\.reason) == [.expired])
    }
  }

  @Test("A refresh token is not sent to the target of a redirect", arguments: [301, 302, 303, 307, 308])
  func redirect(status: Int) async throws {
    try await TestServer.with { _ in
      .json(#"{"access_token":"theirs"}"#)
    } body: { other in
      let target = other.origin
      try await TestServer.with { request in
        request.path == "/token" ? .status(status, fields: ["Location": target + "/token"]) : .status(401)
      } body: { server in
        let api = client(of: server)
        await #expect(throws: CallError.self) { try await api.send(.ping) }
        #expect(other.exchanges.isEmpty)
        #expect(tokens.current().generation == 0)
      }
    }
  }
}
