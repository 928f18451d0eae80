#if NIO
  import ApusCore
  import ApusNIO
  import ApusTestServer
  import Dispatch
  import Foundation
  import HTTPTypes
  import LoopbackConformance
  import Synchronization
  import Testing
  import TestSupport

  @Suite("Time limits")
  struct TimeoutTests {
    @Test("the head of the answer must come in time")
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

    @Test("content must not stall, whether it is collected or streamed")
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
            #expect(error?.requestState == .answered)
          }
        }
      }
    }

    @Test(
      "time in which nobody reads is no stall",
      .enabled(if: ProcessInfo.processInfo.environment["APUS_SANITIZER"] == nil, "so slow that seconds say nothing"))
    func slowReader() async throws {
      // More than may wait to be read, and no more than the sockets hold besides.
      let content = String(repeating: "7", count: 400_000)
      try await TestServer.with { _ in
        // In one write, so that it is the client alone whose pace counts.
        .raw("HTTP/1.1 200 OK\r\nContent-Length: \(content.utf8.count)\r\n\r\n" + content)
      } body: { server in
        try await NIOTransport.with {
          // Long enough for a machine on which a thousand other tests run.
          $0.stallTimeout = .seconds(20)
        } body: { transport in
          let count = try await makeClient(server.origin, transport).withResponse(to: message()) { response in
            var count = try await response.next()?.count ?? 0
            // The server has sent everything, and nobody reads for longer than the limit.
            try await server.waitUntilIdle()
            try await Task.sleep(for: .seconds(21))
            while let piece = try await response.next() { count += piece.count }
            return count
          }
          #expect(count == content.utf8.count)
        }
      }
    }

    @Test("time in which content to send is being made is no stall, time in which nobody takes it is")
    func sendingStall() async throws {
      try await TestServer.with(options: .init(answersAt: .head)) { request in
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

    @Test("connecting must be done in time, and then nothing was sent")
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

    @Test("a call's own limits replace the transport's, in either direction")
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
          #expect(content?.code == .timeout && content?.phase == .receiving && content?.requestState == .answered)
        }
      }
      try await slowAnswer { $0.setting(ExchangeTimeouts.self, ExchangeTimeouts(firstByte: .seconds(3600))) }
    }

    @Test("a call with a longer timeout of its own, or none, waits for its head longer than the transport says")
    func longPoll() async throws {
      try await slowAnswer { $0.timeout(.seconds(3600)) }
      try await slowAnswer { $0.timeout(nil) }
    }

    /// A call that may wait longer than the transport says.
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
          // By the time that this one has been given up the other has waited as long.
          #expect(await failure { try await client.send(message(.get, "/other")) }?.code == .timeout)
          gate.open()
          let got = try await slow.value
          #expect(got == "slow")
        }
      }
    }

    /// Runs `body` while a call has the only connection that there may be.
    private func whileBusy(
      watching watch: @escaping @Sendable (any Error, CallPhase) -> Void = { _, _ in },
      _ body: (TestServer, Client) async throws -> Void
    ) async throws {
      try await TestServer.with { _ in
        .stalled
      } body: { server in
        try await NIOTransport.with {
          $0.connectionsPerOrigin = 1
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

    @Test("a call's own limit on getting a connection counts the time in which others have them")
    func waitingForConnection() async throws {
      try await whileBusy { server, client in
        let own = ExchangeTimeouts(connection: .milliseconds(30))
        let error = await failure { try await client.send(message().setting(ExchangeTimeouts.self, own)) }
        #expect(error?.code == .timeout && error?.phase == .connecting && error?.requestState == .notSent)
        #expect(server.exchanges.count == 1)
      }
    }

    @Test("a call that waits for the pool in vain says nothing of the server: whichever of its limits passes")
    func heldUpByThePool() async throws {
      let told = Mutex<[String]>([])
      try await whileBusy { error, phase in
        let subject = (error as? TransportError)?.subject.rawValue ?? "\(type(of: error))"
        told.withLock { $0.append("\(subject) \(phase.rawValue)") }
      } _: { _, client in
        let own = ExchangeTimeouts(connection: .milliseconds(30))
        _ = await failure { try await client.send(message().setting(ExchangeTimeouts.self, own)) }
        _ = await failure { try await client.withDeadline(.milliseconds(30)) { try await client.send(message()) } }
        #expect(told.withLock { $0 } == ["control waiting", "CancellationError waiting"])
      }
    }

    @Test(
      "a call that ends while others have all connections says that it was not sent", .timeLimit(.minutes(10)))
    func endedWhileWaiting() async throws {
      try await whileBusy { _, client in
        let waiting = Task { await failure { try await client.send(message(.post).tag("waiting")) } }
        try await waitWhile(client.calls.calls(tag: "waiting").first?.phase != .connecting)
        client.calls.cancel(tag: "waiting")
        #expect(await waiting.value?.requestState == .notSent)
      }
    }

    @Test("a call that ends just before its request is written sends nothing, and says so")
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

    @Test("the TLS handshake must be done in time, and then nothing was sent")
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

  /// Cancels a call when its connection is there, on the connection's own thread, and holds that up until the call has
  /// ended, so that it ends without being told that it has one.
  private final class EndingAtConnection: CallObserver {
    let hasEnded = DispatchSemaphore(value: 0)

    func observe(_ event: TraceEvent, of call: CallEntry) {
      guard case .phase(.connecting, _) = event.kind else { return }
      call.cancel()
      _ = hasEnded.wait(timeout: .now() + .seconds(300))
    }
  }

  /// Tells what a transport throws, and in which phase the call is then.
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
#endif
