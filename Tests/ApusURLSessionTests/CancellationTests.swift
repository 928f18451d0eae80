import ApusCore
import ApusTestServer
import ApusURLSession
import Foundation
import Testing

@Suite("Cancellation")
struct CancellationTests {
  @Test("A call cancelled while it waits for the head ends immediately, and its connection is closed")
  func whileAwaitingHead() async throws {
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      let client = try makeClient(server)
      let task = Task { try await client.send(message()) }
      let exchange = try await server.exchange()
      task.cancel()
      await #expect(throws: CallError.self) { try await task.value }
      try await server.waitForClientClose(of: exchange)
      #expect(client.calls.isEmpty)
    }
  }

  @Test("A call cancelled while its content arrives ends immediately, and its connection is closed")
  func whileReceiving() async throws {
    try await TestServer.with { _ in
      Reply.text("hello").stalling(at: .content(2))
    } body: { server in
      let client = try makeClient(server)
      let head = Gate()
      let task = Task {
        try await client.withResponse(to: message()) { response in
          _ = try await response.next()
          head.open()
          _ = try await response.next()
        }
      }
      try await head.wait()
      task.cancel()
      let error = try #require(await errorOf { try await task.value } as? CallError)
      #expect(error.code == .cancelled)
      try await server.waitForClientClose(of: try await server.exchange())
    }
  }

  @Test("A call in a cancelled task sends nothing")
  func beforeStart() async throws {
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      let client = try makeClient(server)
      let gate = Gate()
      let task = Task {
        try? await gate.wait()
        return try await client.send(message())
      }
      task.cancel()
      let error = try #require(await errorOf { try await task.value } as? CallError)
      #expect(error.code == .cancelled)
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test("A deadline of a fraction of a second ends the call, but not too early")
  func subsecondDeadline() async throws {
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      let client = try makeClient(server)
      let start = ContinuousClock.now
      let error = try #require(
        await errorOf { try await client.send(message().timeout(.milliseconds(250))) } as? CallError)
      #expect(error.code == .timeout)
      #expect(ContinuousClock.now - start >= .milliseconds(250))
    }
  }
}

/// Returns the error of `body`.
func errorOf(_ body: () async throws -> some Any) async -> (any Error)? {
  do {
    _ = try await body()
    return nil
  } catch {
    return error
  }
}
