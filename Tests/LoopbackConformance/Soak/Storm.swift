import ApusCore
import ApusTestServer
import ApusTesting
import Synchronization
import TestSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A soak test at a server of HTTP/2 that resets streams, refuses streams and ends its connections with GOAWAY.
///
/// Every call must end exactly once, as counted by its caller and the client's observers. The server must execute no
/// request twice, and none whose call failed before it was sent. Memory and descriptors must not grow with the number
/// of calls.
///
/// The server announces GOAWAY after some hundred streams, and has these paths, in which N is the number of a call:
///
/// - `/call/N` and `/large/N` execute the call, with a small and a large response.
/// - `/refused/N` refuses the stream the first time, and `/unprocessed/N` sends GOAWAY with an earlier stream as the
///   last; then the call is executed.
/// - `/executed/N` and `/cut/N` execute the call, and reset the stream before the head and in the content.
/// - `/silent/N` executes the call and never responds.
/// - `/executions` returns `[[N, count], …]` as JSON: how often each call was executed since the last such request.
public struct Storm: Sendable {
  /// The number of calls: `APUS_STORM_CALLS`, or 20,000.
  public static let calls = Soak.count("APUS_STORM_CALLS") ?? 20_000

  private static let round = 2500
  private static let atOnce = 256

  private let kind: TransportKind
  private let url: String

  /// Creates a soak test of a kind of transport.
  public init(of kind: TransportKind, at url: String) {
    (self.kind, self.url) = (kind, url)
  }

  /// Performs the calls in rounds, all over one transport.
  ///
  /// - Throws: ``ConformanceFailure`` for the first rule that does not hold.
  public func run(calls: Int) async throws {
    try await Soak.turn.wait()
    defer { Soak.turn.release() }
    let counter = EndCounter()
    var settings = ClientSettings()
    settings.observers = [counter]
    var pipeline = Pipeline()
    pipeline.insert(CallDeadline(), .after(.timeout))
    let opened = kind.open()
    let client = Client(
      environment: Environment(baseURL: try BaseURL(url)), pipeline: pipeline, transport: opened.transport,
      settings: settings)
    do {
      try await run(calls: calls, with: client, counter, opened)
      await opened.shutDown()
    } catch {
      await opened.shutDown()
      throw error
    }
  }

  private func run(
    calls: Int, with client: Client, _ counter: EndCounter, _ opened: TransportKind.Opened
  ) async throws {
    var growth = Growth(allowed: Soak.isAlone ? kind.allowedGrowth : nil)
    var ledger = StormLedger()
    for start in stride(from: 0, to: calls, by: Self.round) {
      var generator = SeededGenerator(seed: UInt64(start))
      let plan = (start..<min(start + Self.round, calls)).map { StormCall(number: $0, using: &generator) }
      let outcomes = await Self.perform(plan, with: client)
      try require(client.calls.isEmpty, "calls are left in the registry")
      let ends = counter.take()
      try require(ends.count == plan.count && ends.values.allSatisfy { $0 == 1 }, "observers heard not once")
      try await requireUnused(opened.isQuiet)
      let executions = try await executions(by: client)
      _ = counter.take()
      if let finding = ledger.finding(plan, outcomes, executions) { throw ConformanceFailure("\(kind): \(finding)") }
      growth.add(try .now())
    }
    try require(ledger.unsent <= calls / 500, "\(ledger.unsent) calls were refused too often")
    if let finding = growth.finding { throw ConformanceFailure("\(kind): \(finding)") }
  }

  private static func perform(_ plan: [StormCall], with client: Client) async -> [Int: StormCall.Outcome] {
    await withTaskGroup(of: (Int, StormCall.Outcome).self) { group in
      var outcomes: [Int: StormCall.Outcome] = [:]
      for (index, call) in plan.enumerated() {
        if index >= atOnce, let (number, outcome) = await group.next() { outcomes[number] = outcome }
        group.addTask { (call.number, await call.perform(with: client)) }
      }
      for await (number, outcome) in group { outcomes[number] = outcome }
      return outcomes
    }
  }

  /// Returns how often the server has executed each call since the last round.
  private func executions(by client: Client) async throws -> [Int: Int] {
    let pairs = try await client.send(Request<[[Int]]>.get("/executions"))
    return Dictionary(pairs.map { ($0[0], $0[1]) }, uniquingKeysWith: +)
  }

  private func require(_ condition: Bool, _ finding: @autoclosure () -> String) throws {
    guard condition else { throw ConformanceFailure("\(kind): \(finding())") }
  }
}

/// The executions of the calls of all rounds, compared with the callers' results.
private struct StormLedger {
  /// The calls of the last round that failed and may still be executed, with their executions so far.
  private var open: [Int: Int] = [:]
  /// The number of calls that the server refused too often.
  private(set) var unsent = 0

  /// Adds a round. Returns the first finding; `nil` if there is none.
  mutating func finding(
    _ plan: [StormCall], _ outcomes: [Int: StormCall.Outcome], _ executions: [Int: Int]
  ) -> String? {
    for (number, count) in executions where number < plan[0].number {
      guard let before = open[number] else { return "call \(number) was executed after its end" }
      guard before + count <= 1 else { return "call \(number) was executed again after its end" }
    }
    open = [:]
    for call in plan {
      guard let outcome = outcomes[call.number] else { return "a caller heard nothing: \(call)" }
      let count = executions[call.number, default: 0]
      guard count <= 1 else { return "executed \(count) times: \(call) \(outcome)" }
      if let finding = finding(call, outcome, count) { return "\(finding): \(call) \(outcome)" }
    }
    return nil
  }

  private mutating func finding(_ call: StormCall, _ outcome: StormCall.Outcome, _ count: Int) -> String? {
    guard case .failed(let error) = outcome else {
      return count == 1 ? nil : "answered, but not executed"
    }
    if error.requestState == .notSent {
      guard count == 0 else { return "executed, though not sent" }
      if error.code == .connectionLost { unsent += 1 }
    } else {
      open[call.number] = count
    }
    return call.permits(error) ? nil : "failed unexpectedly"
  }
}
