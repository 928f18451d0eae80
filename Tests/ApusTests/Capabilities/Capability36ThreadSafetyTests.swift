import Apus
import ApusTestServer
import Testing

@Suite("36: thread safety")
struct Capability36ThreadSafetyTests {
  @Test(
    "With concurrent calls, cancellations and switches of environment and token, every response is correct and nothing leaks"
  )
  func underLoad() async throws {
    let tokens = MemoryCredentialsStore()
    // All tokens belong to one account, because a call for an account that is no longer signed in is refused.
    tokens.set(.token("0"), account: "ada")
    try await TestServer.with {
      .text(String($0.path.dropFirst()))
    } body: { server in
      let api = server.client { $0.authentication = .bearer(tokens) }
      let environment = api.environment
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<300 {
          group.addTask {
            let request = Request<String>.get("/\(index)").tag(Tag("\(index % 3)"))
            switch index % 10 {
            case 0: tokens.set(.token(Secret("\(index)")), account: "ada")
            case 1: api.use(environment)
            case 2: api.calls.cancel(tag: "2")
            case 3: _ = api.calls.all.map(\.phase)
            default: break
            }
            do throws(CallError) {
              let text = try await api.send(request)
              #expect(text == "\(index)")
            } catch {
              #expect(error.isCancellation && index % 3 == 2, "\(error)\n\(error.trace)")
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(api.calls.isEmpty)
    }
  }
}
