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
      // Wait until the second call has taken effect before the response comes.
      switch policy {
      case .allow, .cancelPrevious: try await server.exchanges(atLeast: 2)
      case .coalesce: try await waitWhile(!api.calls.all.contains(where: \.hasJoined))
      case .refuse: _ = await second
      }
      gate.open()
      return (await [first, second], server.exchanges.count)
    }
  }

  @Test("With allow both calls run")
  func allow() async throws {
    let (outcomes, exchanges) = try await run(.allow)
    #expect(outcomes == ["answer 0", "answer 1"])
    #expect(exchanges == 2)
  }

  @Test("With refuse the newer call ends immediately and nothing is sent for it")
  func refuse() async throws {
    let (outcomes, exchanges) = try await run(.refuse)
    #expect(outcomes == ["answer 0", "refused"])
    #expect(exchanges == 1)
  }

  @Test("With replace the older call ends and the newer one runs")
  func replace() async throws {
    let (outcomes, exchanges) = try await run(.cancelPrevious)
    #expect(outcomes == ["cancelled", "answer 1"])
    #expect(exchanges == 2)
  }

  @Test("With join both calls get the same response")
  func join() async throws {
    let (outcomes, exchanges) = try await run(.coalesce)
    #expect(outcomes == ["answer 0", "answer 0"])
    #expect(exchanges == 1)
  }
}
