import ApusCore
import ApusTestServer
import ApusTesting
import Foundation
import Synchronization

/// A soak test: thousands of calls of every kind, 2,000 concurrently, many cancelled at a random moment, some with
/// faults.
///
/// Every call must end exactly once, as counted by its caller, the client's observers and registry, and the server.
/// Memory, descriptors and tasks must not grow with the number of calls.
public struct Soak: Sendable {
  /// The number of calls: `APUS_CALLS`, or 10,000.
  public static let calls = count("APUS_CALLS") ?? 10_000
  /// The number of calls with faults: `APUS_FAULTY_CALLS`, or 5,000; never more than
  /// `APUS_CALLS`.
  public static let faultyCalls = count("APUS_FAULTY_CALLS") ?? min(5000, calls)

  /// Whether no other test runs in the process, so that all growth is the transport's: `APUS_SOAK_ALONE`.
  static let isAlone = ProcessInfo.processInfo.environment["APUS_SOAK_ALONE"] != nil

  private static let round = 2500
  private static let atOnce = 2000
  /// A lock for one soak test at a time, so that no test counts the resources of another test.
  static let turn = {
    let gate = Gate()
    gate.release()
    return gate
  }()

  private let kind: TransportKind
  private let isFaulty: Bool

  /// Creates a soak test of a kind of transport.
  public init(of kind: TransportKind, isFaulty: Bool) {
    self.kind = kind
    self.isFaulty = isFaulty
  }

  /// Performs the calls in rounds, all over one transport to one server.
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
        // By now all requests that were in flight when their calls ended have arrived.
        let late = server.exchanges.map { SoakCall.number(in: $0.target) }.filter { unsent.contains($0) }
        try require(late.isEmpty, "seen though not sent: \(late)")
        try await forget(server)
        growth.add(try .now())
      }
      if let finding = growth.finding { throw ConformanceFailure("\(kind): \(finding)") }
    }
  }

  /// Performs calls. Returns the calls that were not sent.
  private func run(
    _ numbers: Range<Int>, _ counter: EndCounter, _ server: TestServer, _ client: Client
  ) async throws -> Set<Int> {
    var generator = SeededGenerator(seed: UInt64(numbers.lowerBound))
    let plan = numbers.map { SoakCall(number: $0, timeout: isFaulty ? .seconds(2) : nil, using: &generator) }
    let outcomes = await Self.perform(plan, with: client)
    try require(client.calls.isEmpty, "calls are left in the registry")
    try require(
      outcomes.count == plan.count && outcomes.values.allSatisfy { $0.count == 1 }, "callers heard not once")
    let ends = counter.take()
    try require(ends.count == plan.count && ends.values.allSatisfy { $0 == 1 }, "observers heard not once")
    try check(plan, outcomes, server)
    return Set(outcomes.filter { $0.value.contains { $0?.requestState == .notSent } }.keys)
  }

  /// Closes the connections and exchanges that a round has left on the server.
  private func close(_ server: TestServer) async throws {
    // A stall after a response lasts until the connection ends, and a stalled request may arrive after its call has
    // ended.
    try await requireSoon("connections or exchanges are left on the server") {
      while server.openConnections + server.inFlight > 0 {
        try Task.checkCancellation()
        await server.closeConnections()
        await Task.yield()
      }
    }
  }

  /// Discards the server's records of a round, so that only the transport's memory can grow.
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

  /// Compares the server's records with the callers' results.
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
        // A response that was accepted and read to its end must have been sent completely.
        try require(exchanges.last?.outcome == .replied, "read completely, but not sent completely: \(call)")
      }
    }
  }

  static func count(_ name: String) -> Int? {
    ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
  }

  private func require(_ condition: Bool, _ finding: @autoclosure () -> String) throws {
    guard condition else { throw ConformanceFailure("\(kind): \(finding())") }
  }
}

/// An observer that counts the ends of each call.
final class EndCounter: CallObserver {
  private let counts = Mutex<[UInt64: Int]>([:])

  /// Returns and clears the counts.
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
