import ApusCore
import ApusTestServer
import ApusTesting
import Foundation
import Synchronization

/// Thousands of calls of every kind, 2,000 at once, many cancelled at a random moment; some with faults.
///
/// Every call must end exactly once, as counted by its caller, the client's observers and registry, and the server,
/// and nothing may grow with the number of calls: no memory, no descriptors, no tasks.
public struct Soak: Sendable {
  /// The number of calls: `APUS_CALLS`, or 10,000.
  public static let calls = count("APUS_CALLS") ?? 10_000
  /// The number of calls with faults: `APUS_FAULTY_CALLS`, or 5,000; never more than
  /// `APUS_CALLS`.
  public static let faultyCalls = count("APUS_FAULTY_CALLS") ?? min(5000, calls)

  /// Whether nothing else runs in the process, so that growth is the transport's: `APUS_SOAK_ALONE`.
  private static let isAlone = ProcessInfo.processInfo.environment["APUS_SOAK_ALONE"] != nil

  private static let round = 2500
  private static let atOnce = 2000
  /// One soak at a time, so that none counts what another holds.
  private static let turn = {
    let gate = Gate()
    gate.release()
    return gate
  }()

  private let kind: TransportKind
  private let isFaulty: Bool

  /// Creates a soak of a kind of transport.
  public init(of kind: TransportKind, isFaulty: Bool) {
    self.kind = kind
    self.isFaulty = isFaulty
  }

  /// Makes the calls in rounds, all over one transport to one server.
  ///
  /// - Throws: ``ConformanceFailure`` for the first rule that does not hold.
  public func run(calls: Int) async throws {
    try await Self.turn.wait()
    defer { Self.turn.release() }
    let counter = EndCounter()
    var settings = ClientSettings()
    settings.observers = [counter]
    settings.contentLimit = 64 << 10
    let options = TestServer.Options(
      contentLimit: 0, faults: isFaulty ? SoakFaults.all(seed: 1, kind.gaps) : [])
    try await kind.run(options, settings) { [gaps = kind.gaps] request in
      SoakCall.reply(to: request, gaps)
    } body: { server, client in
      var growth = Growth(allowed: Self.isAlone ? kind.allowedGrowth : nil)
      for start in stride(from: 0, to: calls, by: Self.round) {
        let unsent = try await run(start..<min(start + Self.round, calls), counter, server, client)
        try await close(server)
        // Everything that was under way when its call ended has arrived by now.
        let late = server.exchanges.map { SoakCall.number(in: $0.target) }.filter { unsent.contains($0) }
        try require(late.isEmpty, "seen though not sent: \(late)")
        try await forget(server)
        growth.add(try .now())
      }
      if let finding = growth.finding { throw ConformanceFailure("\(kind): \(finding)") }
    }
  }

  /// Makes calls. Returns those that were not sent.
  private func run(
    _ numbers: Range<Int>, _ counter: EndCounter, _ server: TestServer, _ client: Client
  ) async throws -> Set<Int> {
    var generator = SeededGenerator(seed: UInt64(numbers.lowerBound))
    let plan = numbers.map { SoakCall(number: $0, patience: isFaulty ? .seconds(2) : nil, using: &generator) }
    let outcomes = await Self.perform(plan, with: client)
    try require(client.calls.isEmpty, "calls are left in the registry")
    try require(
      outcomes.count == plan.count && outcomes.values.allSatisfy { $0.count == 1 }, "callers heard not once")
    let ends = counter.take()
    try require(ends.count == plan.count && ends.values.allSatisfy { $0 == 1 }, "observers heard not once")
    try check(plan, outcomes, server)
    return Set(outcomes.filter { $0.value.contains { $0?.requestState == .notSent } }.keys)
  }

  /// Ends what a round has left on the server.
  private func close(_ server: TestServer) async throws {
    // A server that stalls after a response does so until its connection ends, and a stalled request may arrive after
    // its call has ended.
    try await requireSoon("connections or exchanges are left on the server") {
      while server.openConnections + server.inFlight > 0 {
        try Task.checkCancellation()
        await server.closeConnections()
        await Task.yield()
      }
    }
  }

  /// Keeps what the transport keeps of a round, and nothing else.
  private func forget(_ server: TestServer) async throws {
    try await requireSoon("exchanges are not settled") {
      server.forgetExchanges()
      return server.exchanges.isEmpty
    }
  }

  private static func perform(_ plan: [SoakCall], with client: Client) async -> [Int: [CallError?]] {
    await withTaskGroup(of: (Int, CallError?).self) { group in
      var outcomes: [Int: [CallError?]] = [:]
      for call in plan {
        if call.number - plan[0].number >= atOnce, let (number, error) = await group.next() {
          outcomes[number, default: []].append(error)
        }
        group.addTask { (call.number, await call.perform(with: client)) }
      }
      for await (number, error) in group { outcomes[number, default: []].append(error) }
      return outcomes
    }
  }

  /// Compares what the server saw with what the callers got.
  private func check(_ plan: [SoakCall], _ outcomes: [Int: [CallError?]], _ server: TestServer) throws {
    let seen = Dictionary(grouping: server.exchanges) { SoakCall.number(in: $0.target) }
    for call in plan {
      let exchanges = seen[call.number, default: []]
      let most = isFaulty || call.isRepeated ? kind.mostExchanges : 1
      try require(exchanges.count <= most, "sent \(exchanges.count) times: \(call)")
      guard let outcome = outcomes[call.number]?.first else { continue }
      if let error = outcome {
        if error.requestState == .notSent { try require(exchanges.isEmpty, "seen though not sent: \(call) \(error)") }
        if error.requestState == .responded, !isFaulty {
          try require(!exchanges.isEmpty, "never seen, though answered: \(call) \(error)")
        }
      } else if call.ending != .abandoned, !isFaulty {
        // A response that was accepted and read to its end was sent to its end.
        try require(exchanges.last?.outcome == .replied, "read whole, and not given whole: \(call)")
      }
    }
  }

  private static func count(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  private func require(_ condition: Bool, _ finding: @autoclosure () -> String) throws {
    guard condition else { throw ConformanceFailure("\(kind): \(finding())") }
  }
}

/// Counts how often each call ended.
private final class EndCounter: CallObserver {
  private let counts = Mutex<[UInt64: Int]>([:])

  /// The calls that ended since the last look.
  func take() -> [UInt64: Int] {
    counts.withLock { counts in
      defer { counts = [:] }
      return counts
    }
  }

  func observe(_ event: TraceEvent, of call: CallEntry) {
    switch event.kind {
    case .succeeded, .failed: counts.withLock { $0[call.serial, default: 0] += 1 }
    default: break
    }
  }
}
