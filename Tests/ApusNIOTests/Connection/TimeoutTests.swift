import ApusCore
import ApusNIO
import ApusTestServer
import Dispatch
import Foundation
import HTTPTypes
import LoopbackConformance
import Synchronization
import TestSupport
import Testing

@Suite("Timeouts")
struct TimeoutTests {
  @Test("A call fails if the head of the response does not arrive within the first-byte timeout")
  func firstByte() async throws {
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      try await NIOTransport.with {
        $0.firstByteTimeout = .milliseconds(30)
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        let error = try #require(await failure { try await client.send(message(.post).content(.text("x"))) })
        #expect(error.code == .timeout)
        #expect(error.phase == .awaitingHead)
        #expect(error.requestState == .maybeSent)
        try await server.waitForClientClose(of: try await server.exchange())
      }
    }
  }

  @Test("A call fails if its content stalls, collected or streamed")
  func stall() async throws {
    try await TestServer.with { _ in
      Reply.text("hello").stalling(at: .content(2))
    } body: { server in
      try await NIOTransport.with {
        $0.stallTimeout = .milliseconds(30)
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        let collected = await failure { try await client.send(message()) }
        let streamed = await failure {
          try await client.withResponse(to: message()) { while try await $0.next() != nil {} }
        }
        for error in [collected, streamed] {
          #expect(error?.code == .timeout)
          #expect(error?.phase == .receiving)
          #expect(error?.requestState == .responded)
        }
      }
    }
  }

  @Test(
    "Time in which the caller does not read does not count as a stall",
    .enabled(if: ProcessInfo.processInfo.environment["APUS_SANITIZER"] == nil, "so slow that seconds say nothing"))
  func slowReader() async throws {
    // The content is larger than the reader's buffer, but not larger than that buffer and the socket buffers together.
    let content = String(repeating: "7", count: 400_000)
    try await TestServer.with { _ in
      // The response is sent in one write, so that only the client's pace matters.
      .raw("HTTP/1.1 200 OK\r\nContent-Length: \(content.utf8.count)\r\n\r\n" + content)
    } body: { server in
      try await NIOTransport.with {
        // The timeout is long enough for a machine that runs a thousand other tests at the same time.
        $0.stallTimeout = .seconds(20)
      } body: { transport in
        let count = try await makeClient(server.origin, transport).withResponse(to: message()) { response in
          var count = try await response.next()?.count ?? 0
          // The server has sent everything, and the caller does not read for longer than the timeout.
          try await server.waitUntilIdle()
          try await Task.sleep(for: .seconds(21))
          while let piece = try await response.next() { count += piece.count }
          return count
        }
        #expect(count == content.utf8.count)
      }
    }
  }

  @Test("Production of request content does not count toward the stall timeout; a server that does not read does")
  func sendingStall() async throws {
    try await TestServer.with(options: .init(repliesAt: .head)) { request in
      request.path == "/taken" ? .text("taken") : Reply.stalled.inserting([.reading(false)], at: .start)
    } body: { server in
      try await NIOTransport.with {
        $0.stallTimeout = .milliseconds(50)
        $0.firstByteTimeout = .milliseconds(50)
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        let endless = ContentStream(isReplayable: false) { { Data(count: 1 << 16) } }
        let error = try #require(
          await failure { try await client.send(message(.put, "/blocked").content(.stream(endless))) })
        #expect(error.code == .timeout)
        #expect(error.phase == .connecting)
        #expect(error.requestState == .maybeSent)
      }
    }
  }

  @Test("A call whose connection is not made within the connect timeout fails as not sent")
  func connect() async throws {
    let port = try SilentPort()
    defer { withExtendedLifetime(port) {} }
    try await NIOTransport.with {
      $0.connectTimeout = .milliseconds(30)
    } body: { transport in
      let client = try makeClient("http://127.0.0.1:\(port.number)", transport)
      let error = try #require(await failure { try await client.send(message()) })
      #expect(error.code == .timeout)
      #expect(error.phase == .connecting)
      #expect(error.requestState == .notSent)
    }
  }

  @Test("A call's own timeouts replace the transport's timeouts, whether shorter or longer")
  func own() async throws {
    try await TestServer.with { exchange in
      exchange.path == "/head" ? .stalled : Reply.text("hello").stalling(at: .content(2))
    } body: { server in
      try await NIOTransport.with { transport in
        let client = try makeClient(server.origin, transport)
        let short = ExchangeTimeouts(firstByte: .milliseconds(30))
        let steady = ExchangeTimeouts(stall: .milliseconds(30))
        let head = await failure {
          try await client.send(message(.get, "/head").setting(ExchangeTimeouts.self, short))
        }
        #expect(head?.code == .timeout && head?.phase == .awaitingHead && head?.requestState == .maybeSent)
        let content = await failure { try await client.send(message().setting(ExchangeTimeouts.self, steady)) }
        #expect(content?.code == .timeout && content?.phase == .receiving && content?.requestState == .responded)
      }
    }
    try await slowAnswer { $0.setting(ExchangeTimeouts.self, ExchangeTimeouts(firstByte: .seconds(3600))) }
  }

  @Test("A call with a longer timeout, or without a timeout, may exceed the transport's first-byte timeout")
  func longPoll() async throws {
    try await slowAnswer { $0.timeout(.seconds(3600)) }
    try await slowAnswer { $0.timeout(nil) }
  }

  /// Performs a call that may wait longer than the transport's timeout.
  private func slowAnswer(_ patient: @escaping @Sendable (Request<Content>) -> Request<Content>) async throws {
    let gate = Gate()
    try await TestServer.with { exchange in
      exchange.path == "/slow" ? .text("slow").waiting(for: gate) : .stalled
    } body: { server in
      try await NIOTransport.with {
        $0.firstByteTimeout = .milliseconds(30)
      } body: { transport in
        let client = try makeClient(server.origin, transport)
        let slow = Task { try await client.send(patient(message(.get, "/slow"))).string }
        try await gate.waitForArrivals(1)
        // When this call times out, the slow call has waited at least as long.
        #expect(await failure { try await client.send(message(.get, "/other")) }?.code == .timeout)
        gate.open()
        let got = try await slow.value
        #expect(got == "slow")
      }
    }
  }

  /// Runs `body` while a call uses the only permitted connection.
  private func whileBusy(
    watching watch: @escaping @Sendable (any Error, CallPhase) -> Void = { _, _ in },
    _ body: (TestServer, Client) async throws -> Void
  ) async throws {
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      try await NIOTransport.with {
        $0.maximumConnectionsPerOrigin = 1
      } body: { transport in
        let client = Client(
          environment: Environment(baseURL: try BaseURL(server.origin)),
          transport: Watching(transport: transport, watch: watch))
        let running = Task { await failure { try await client.send(message()) } }
        try await server.exchanges(atLeast: 1)
        try await body(server, client)
        client.calls.cancelAll()
        #expect(await running.value?.requestState == .maybeSent)
      }
    }
  }

  @Test("A call's connection timeout includes the wait for connections that other calls use")
  func waitingForConnection() async throws {
    try await whileBusy { server, client in
      let own = ExchangeTimeouts(connection: .milliseconds(30))
      let error = await failure { try await client.send(message().setting(ExchangeTimeouts.self, own)) }
      #expect(error?.code == .timeout && error?.phase == .connecting && error?.requestState == .notSent)
      #expect(server.exchanges.count == 1)
    }
  }

  @Test("A timeout in the pool's queue is attributed to traffic control, whichever timeout it is")
  func heldUpByThePool() async throws {
    let told = Mutex<[String]>([])
    try await whileBusy { error, phase in
      let subject = (error as? TransportError).map { "\($0.source)" } ?? "\(type(of: error))"
      told.withLock { $0.append("\(subject) \(phase)") }
    } _: { _, client in
      let own = ExchangeTimeouts(connection: .seconds(1))
      _ = await failure { try await client.send(message().setting(ExchangeTimeouts.self, own)) }
      _ = await failure { try await client.withDeadline(.seconds(1)) { try await client.send(message()) } }
      #expect(told.withLock { $0 } == ["trafficControl waiting", "CancellationError waiting"])
    }
  }

  @Test(
    "A call that ends while other calls use all connections reports that it was not sent", .timeLimit(.minutes(10)))
  func endedWhileWaiting() async throws {
    try await whileBusy { _, client in
      let waiting = Task { await failure { try await client.send(message(.post).tag("waiting")) } }
      try await waitWhile(client.calls.calls(tag: "waiting").first?.phase != .connecting)
      client.calls.cancel(tag: "waiting")
      #expect(await waiting.value?.requestState == .notSent)
    }
  }

  @Test("A call that ends just before its request is written sends nothing and fails as not sent")
  func endedWhileConnecting() async throws {
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      try await NIOTransport.with { transport in
        var settings = ClientSettings()
        let observer = EndingAtConnection()
        settings.observers = [observer]
        let client = try makeClient(server.origin, transport, settings: settings)
        let thrown = await failure { try await client.send(message(.post).content(.text("x"))) }
        observer.hasEnded.signal()
        let error = try #require(thrown)
        #expect(error.code == .cancelled && error.requestState == .notSent)
        try await server.wait { $0.openConnections == 0 }
        #expect(server.exchanges.isEmpty)
      }
    }
  }

  @Test("A call whose TLS handshake exceeds the connect timeout fails as not sent")
  func handshake() async throws {
    let port = try SilentPort(accepts: true)
    defer { withExtendedLifetime(port) {} }
    try await NIOTransport.with {
      $0.connectTimeout = .milliseconds(100)
    } body: { transport in
      let client = try makeClient("https://127.0.0.1:\(port.number)", transport)
      let error = try #require(await failure { try await client.send(message()) })
      #expect(error.code == .timeout)
      #expect(error.requestState == .notSent)
    }
  }
}

/// Cancels a call when its connection is ready, on the connection's own thread, and blocks that thread until the call
/// has ended. So the call ends before the connection is reported to the call.
private final class EndingAtConnection: CallObserver {
  let hasEnded = DispatchSemaphore(value: 0)

  func observe(_ event: TraceEvent, of call: CallEntry) {
    guard case .phase(.connecting, _) = event.kind else { return }
    call.cancel()
    _ = hasEnded.wait(timeout: .now() + .seconds(300))
  }
}

/// A transport that reports each error together with the phase of the call at that moment.
private struct Watching: Transport {
  let transport: NIOTransport
  let watch: @Sendable (any Error, CallPhase) -> Void

  var reportsConnections: Bool { transport.reportsConnections }

  func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    do {
      return try await transport.send(request, context: context)
    } catch {
      watch(error, context.call.phase)
      throw error
    }
  }
}
