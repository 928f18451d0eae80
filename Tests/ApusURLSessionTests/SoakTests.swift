#if canImport(Glibc)
  import ApusCore
  import struct ApusTesting.SeededGenerator
  import ApusTestServer
  import ApusURLSession
  import Foundation
  import Glibc
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
      .timeLimit(.minutes(5)))
    func everyCallEndsOnce() async throws {
      let round = 500
      var resources: [Resources] = []
      for number in 0..<max(1, Self.calls / round) {
        try await run(calls: round, seed: UInt64(number))
        resources.append(Resources())
      }
      let first = try #require(resources.dropFirst().first ?? resources.first)
      let last = try #require(resources.last)
      // Other tests run beside this one: what counts is that nothing grows with the number of calls.
      #expect(last.descriptors - first.descriptors < 200)
      #expect(last.residentBytes - first.residentBytes < 96 << 20)
    }

    private func run(calls: Int, seed: UInt64) async throws {
      let server = try await TestServer.start { SoakCall.reply(to: $0) }
      let transport = URLSessionTransport()
      let counter = EndCounter()
      var settings = ClientSettings()
      settings.observers = [counter]
      settings.contentLimit = 64 << 10
      let client = try makeClient(server, transport: transport, settings: settings)
      var generator = SeededGenerator(seed: seed)
      let plan = (0..<calls).map { SoakCall(number: $0, using: &generator) }

      let outcomes = await withTaskGroup(of: (Int, CallError.Code?).self) { group in
        var outcomes: [Int: [CallError.Code?]] = [:]
        for call in plan {
          if call.number >= 48, let (number, code) = await group.next() { outcomes[number, default: []].append(code) }
          group.addTask { (call.number, await call.perform(with: client)) }
        }
        for await (number, code) in group { outcomes[number, default: []].append(code) }
        return outcomes
      }

      #expect(client.calls.isEmpty)
      try await server.waitUntilIdle()
      #expect(outcomes.count == calls && outcomes.values.allSatisfy { $0.count == 1 })
      #expect(counter.ends.count == calls && counter.ends.values.allSatisfy { $0 == 1 })
      let seen = Dictionary(grouping: server.exchanges) { SoakCall.number(in: $0.target) }
      for call in plan {
        let exchanges = seen[call.number, default: []]
        #expect(exchanges.count <= call.mostExchanges, "call \(call.number) was sent \(exchanges.count) times: \(call)")
        // An answer that was accepted and read to its end was given to its end.
        guard call.ending != .abandoned, case .some(nil) = outcomes[call.number]?.first else { continue }
        #expect(exchanges.map(\.outcome) == [.answered], "\(call)")
      }
      transport.shutDown()
      await server.shutDown()
    }
  }

  /// What a process holds.
  private struct Resources {
    let descriptors: Int
    let residentBytes: Int

    init() {
      descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count) ?? 0
      let pages = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ").dropFirst()
        .first
      residentBytes = (pages.flatMap { Int($0) } ?? 0) * Int(getpagesize())
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
