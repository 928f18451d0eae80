import ApusCore
import ApusNIO
import ApusTestServer
import HTTPTypes
import TestSupport
import Testing

@Suite("Shutdown")
struct ShutDownTests {
  @Test("Shutdown closes idle connections, and later calls are refused as not sent", arguments: [nil, 2])
  func idle(threads: Int?) async throws {
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      var options = NIOTransport.Options()
      if let threads { options.eventLoops = .dedicated(threads) }
      let transport = NIOTransport(options: options)
      let client = try makeClient(server.origin, transport)
      _ = try await client.send(message())
      await transport.shutDown()
      await transport.shutDown()
      try await server.wait { $0.openConnections == 0 }
      let error = await failure { try await client.send(message()) }
      #expect(error?.code == .refused)
      #expect(error?.requestState == .notSent)
    }
  }

  @Test("Shutdown ends current exchanges, collected and streamed, and exchanges that wait for a connection")
  func running() async throws {
    try await TestServer.with { _ in
      Reply.text("hello").stalling(at: .content(2))
    } body: { server in
      // The total limit includes streams.
      let transport = NIOTransport(options: modified { $0.maximumConnections = 2 })
      let client = try makeClient(server.origin, transport)
      let collecting = Task { try await client.send(message()) }
      let isReading = Gate()
      let streaming = Task {
        try await client.withResponse(to: message()) { response in
          _ = try await response.next()
          isReading.open()
          while try await response.next() != nil {}
        }
      }
      try await isReading.wait()
      try await server.exchanges(atLeast: 2)
      let waiting = Task { try await client.send(message()) }
      try await waitWhile(client.calls.all.count(where: { $0.phase == .connecting }) < 1)
      await transport.shutDown()
      #expect(await failure { try await collecting.value }?.code == .connectionLost)
      #expect(await failure { try await streaming.value }?.code == .connectionLost)
      #expect(await failure { try await waiting.value }?.requestState == .notSent)
      try await server.wait { $0.openConnections == 0 }
      #expect(client.calls.isEmpty)
    }
  }

  @Test("Exchanges may complete within the shutdown's grace period")
  func grace() async throws {
    let gate = Gate()
    try await TestServer.with { request in
      // A call that starts too early to be refused must not wait for the gate, which opens only after the refusal.
      request.path == "/late" ? .text("") : .text("whole").waiting(for: gate)
    } body: { server in
      let transport = NIOTransport(options: .patient)
      let client = try makeClient(server.origin, transport)
      let running = Task { try await client.send(message()).string }
      try await gate.waitForArrivals(1)
      let end = Task { await transport.shutDown(within: .seconds(60)) }
      while await failure({ try await client.send(message(.get, "/late")) })?.requestState != .notSent {}
      gate.open()
      let got = try await running.value
      #expect(got == "whole")
      await end.value
      try await server.wait { $0.openConnections == 0 }
    }
  }

  @Test("Shutdown ends exchanges after the grace period, or immediately if its task is cancelled")
  func gracePeriodEnds() async throws {
    try await TestServer.with { _ in
      .stalled
    } body: { server in
      for isCancelled in [false, true] {
        let transport = NIOTransport(options: .patient)
        let client = try makeClient(server.origin, transport)
        let running = Task { try await client.send(message()) }
        try await server.exchanges(atLeast: isCancelled ? 2 : 1)
        let end = Task { await transport.shutDown(within: isCancelled ? .seconds(600) : .milliseconds(20)) }
        if isCancelled { end.cancel() }
        await end.value
        #expect(await failure { try await running.value }?.code == .connectionLost)
      }
    }
  }

  @Test("Shutdown cancels connection attempts", .timeLimit(.minutes(5)))
  func connecting() async throws {
    let port = try SilentPort()
    defer { withExtendedLifetime(port) {} }
    // The connect timeout is longer than the test may take, so that the timeout does not end the call.
    let transport = NIOTransport(options: modified { $0.connectTimeout = .seconds(3600) })
    let client = try makeClient("http://127.0.0.1:\(port.number)", transport)
    let waiting = Task { try await client.send(message()) }
    try await waitWhile(!client.calls.all.contains(where: { $0.phase == .connecting }))
    await transport.shutDown()
    #expect(await failure { try await waiting.value }?.requestState == .notSent)
  }

  @Test("A released transport closes its connections, and its threads end with it", arguments: [nil, 2])
  func abandoned(threads: Int?) async throws {
    try await TestServer.with { _ in
      .text("")
    } body: { server in
      var transport: NIOTransport? = NIOTransport(
        options: modified { if let threads { $0.eventLoops = .dedicated(threads) } })
      _ = try await makeClient(server.origin, #require(transport)).send(message())
      transport = nil
      try await server.wait { $0.openConnections == 0 }
    }
  }

  private func modified(_ change: (inout NIOTransport.Options) -> Void) -> NIOTransport.Options {
    var options = NIOTransport.Options.patient
    change(&options)
    return options
  }
}
