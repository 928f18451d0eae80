import Apus
import ApusTestServer
import TestSupport
import Testing

@Suite("23: two calls with the same id")
struct Capability23DuplicatesTests {
  private func run(_ policy: DuplicatePolicy) async throws -> (outcomes: [String], exchanges: Int) {
    let gate = Gate()
    return try await TestServer.with {
      Reply.text("answer \($0.number)").waiting(for: gate)
    } body: { server in
      let api = server.client()
      let request = Request<String>.get("/a").id("a", onDuplicate: policy)
      @Sendable func outcome() async -> String {
        do throws(CallError) {
          return try await api.send(request)
        } catch {
          return error.code.rawValue
        }
      }
      async let first = outcome()
      try await server.exchanges(atLeast: 1)
      async let second = outcome()
      // Waits until the second call has taken effect before the response is sent.
      switch policy {
      case .allow, .cancelPrevious: try await server.exchanges(atLeast: 2)
      case .coalesce: try await waitWhile(!api.calls.all.contains(where: \.hasJoined))
      case .refuse: _ = await second
      }
      gate.open()
      return (await [first, second], server.exchanges.count)
    }
  }

  @Test("With the policy allow, both calls with the same id run")
  func allow() async throws {
    let (outcomes, exchanges) = try await run(.allow)
    #expect(outcomes == ["answer 0", "answer 1"])
    #expect(exchanges == 2)
  }

  @Test("With the policy refuse, the newer call is refused immediately and not sent")
  func refuse() async throws {
    let (outcomes, exchanges) = try await run(.refuse)
    #expect(outcomes == ["answer 0", "refused"])
    #expect(exchanges == 1)
  }

  @Test("With the policy cancelPrevious, the older call ends and the newer call runs")
  func replace() async throws {
    let (outcomes, exchanges) = try await run(.cancelPrevious)
    #expect(outcomes == ["cancelled", "answer 1"])
    #expect(exchanges == 2)
  }

  @Test("With the policy coalesce, both calls get the same response")
  func join() async throws {
    let (outcomes, exchanges) = try await run(.coalesce)
    #expect(outcomes == ["answer 0", "answer 0"])
    #expect(exchanges == 1)
  }
}
