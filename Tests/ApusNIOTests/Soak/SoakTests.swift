#if NIO
  import ApusCore
  import ApusNIO
  import ApusTestServer
  import Foundation
  import struct ApusTesting.SeededGenerator
  import Synchronization
  import Testing

  /// Thousands of calls of every kind, many cancelled at a random moment.
  ///
  /// `APUS_CALLS` sets how many; 10,000 without it.
  @Suite("Soak")
  struct SoakTests {
    static let calls = ProcessInfo.processInfo.environment["APUS_CALLS"].flatMap { Int($0) } ?? 10_000

    @Test(
      "every one of thousands of calls ends exactly once, whatever happens, and leaves nothing behind",
      .timeLimit(.minutes(5)), arguments: [false, true])
    func everyCallEndsOnce(isSecure: Bool) async throws {
      let authority = isSecure ? try TestAuthority.shared() : nil
      let round = 1000
      for number in 0..<max(1, Self.calls / round / (isSecure ? 5 : 1)) {
        try await run(calls: round, seed: UInt64(number), authority)
      }
    }

    private func run(calls: Int, seed: UInt64, _ authority: TestAuthority?) async throws {
      let server = try await TestServer.start(options: .init(tls: authority?.tls())) { SoakCall.reply(to: $0) }
      var options = NIOTransport.Options()
      if let authority { options.trust.additionalAuthorities = [Data(authority.certificate.utf8)] }
      let transport = NIOTransport(options: options)
      let counter = EndCounter()
      var settings = ClientSettings()
      settings.observers = [counter]
      settings.contentLimit = 64 << 10
      var pipeline = Pipeline()
      pipeline.insert(CallDeadline(), .after(.totalDeadline))
      let client = Client(
        environment: Environment(baseURL: try BaseURL(server.origin)), pipeline: pipeline, transport: transport,
        settings: settings)
      var generator = SeededGenerator(seed: seed)
      let plan = (0..<calls).map { SoakCall(number: $0, using: &generator) }

      let outcomes = await withTaskGroup(of: (Int, CallError?).self) { group in
        var outcomes: [Int: [CallError?]] = [:]
        for call in plan {
          if call.number >= 64, let (number, error) = await group.next() { outcomes[number, default: []].append(error) }
          group.addTask { (call.number, await call.perform(with: client)) }
        }
        for await (number, error) in group { outcomes[number, default: []].append(error) }
        return outcomes
      }

      #expect(client.calls.isEmpty)
      #expect(outcomes.count == calls && outcomes.values.allSatisfy { $0.count == 1 })
      #expect(counter.ends.count == calls && counter.ends.values.allSatisfy { $0 == 1 })
      await transport.shutDown()
      try await server.wait { $0.openConnections == 0 }
      try await server.waitUntilIdle()
      check(plan, outcomes, server)
      await server.shutDown()
    }

    /// What the server saw fits what the callers were told.
    private func check(_ plan: [SoakCall], _ outcomes: [Int: [CallError?]], _ server: TestServer) {
      let seen = Dictionary(grouping: server.exchanges) { SoakCall.number(in: $0.target) }
      for call in plan {
        let exchanges = seen[call.number, default: []]
        #expect(exchanges.count <= call.mostExchanges, "call \(call.number) was sent \(exchanges.count) times: \(call)")
        guard let outcome = outcomes[call.number]?.first else { continue }
        if let error = outcome {
          if error.requestState == .notSent { #expect(exchanges.isEmpty, "\(call): \(error)") }
          if error.requestState == .answered { #expect(!exchanges.isEmpty, "\(call): \(error)") }
        } else if call.ending != .abandoned {
          // An answer that was accepted and read to its end was given to its end.
          #expect(exchanges.last?.outcome == .answered, "\(call)")
        }
      }
      #expect(server.rejections.isEmpty)
    }
  }

  /// Counts how often each call ended.
  private final class EndCounter: CallObserver {
    private let counts = Mutex<[UInt64: Int]>([:])

    var ends: [UInt64: Int] { counts.withLock { $0 } }

    func observe(_ event: TraceEvent, of call: CallEntry) {
      switch event.kind {
      case .succeeded, .failed: counts.withLock { $0[call.serial, default: 0] += 1 }
      default: break
      }
    }
  }
#endif
