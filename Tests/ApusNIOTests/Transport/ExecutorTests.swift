import ApusCore
import ApusNIO
import ApusTestServer
import Testing

@Suite("Executors")
struct ExecutorTests {
  @Test("Many concurrent calls on the transport's event loops complete")
  func calls() async throws {
    try await TestServer.with { _ in
      .text("here")
    } body: { server in
      try await NIOTransport.with {
        $0.eventLoops = .dedicated(1)
      } body: { transport in
        let executor = try #require(transport.executor())
        var settings = ClientSettings()
        settings.runtime.executor = executor
        let client = try makeClient(server.origin, transport, settings: settings)
        try await withTaskExecutorPreference(executor) {
          try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await client.send(message()).string } }
            for try await text in group { #expect(text == "here") }
          }
        }
      }
    }
  }

  @Test("A transport that is shut down has no executor")
  func shutDown() async {
    let transport = NIOTransport()
    #expect(transport.executor() != nil)
    await transport.shutDown()
    #expect(transport.executor() == nil)
  }
}
