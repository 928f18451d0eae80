import ApusCore

/// A deterministic simulation: real clients against simulated servers, in virtual time and on one thread.
///
/// The clients can have any pipeline; only the clock, the executor, randomness and the network are simulated. A run
/// is a function of its seed: hours take seconds, and a failed run can be replayed with the code in its error.
///
/// ```swift
/// let report = try await Simulation(seed: 7).run { world in
///   let server = world.server("api.example.com") {
///     $0.capacity = 20
///     $0.serviceTime = .exponential(mean: .milliseconds(100))
///   }
///   server.change(at: .seconds(60)) { $0.capacity /= 2 }
///   let link = SimulatedLink(loss: 0.01)
///   let api = Client(baseURL: server.baseURL, transport: world.transport(over: link)) {
///     $0.settings = world.settings($0.settings)
///   }
///   world.every(.exponential(mean: .milliseconds(10)), for: .seconds(120)) { number in
///     _ = try? await api.send(Request<String>.get("/items/\(number)"))
///   }
/// }
/// print(report.goodput().values)
/// ```
public struct Simulation: Sendable {
  /// The seed that determines the run.
  package var seed: UInt64
  /// Whether concurrent jobs run in a random order, so that each seed tries a different interleaving. If `false`, jobs
  /// run in the order in which they were enqueued.
  package var shufflesJobs: Bool
  /// The maximum simulated time.
  package var limit: Duration
  /// The number of steps at one instant after which the run fails as an endless loop.
  var stepsAtOneInstant = 10_000_000

  /// Creates a simulation.
  ///
  /// - Parameters:
  ///   - seed: the seed that determines the run.
  ///   - shufflesJobs: whether concurrent jobs run in a random order. Default: `false`.
  ///   - limit: the maximum simulated time. Default: a day.
  public init(seed: UInt64, shufflesJobs: Bool = false, limit: Duration = .seconds(24 * 60 * 60)) {
    self.seed = seed
    self.shufflesJobs = shufflesJobs
    self.limit = limit
  }

  /// Runs `body` and all work that it spawns to the end, and returns a report.
  ///
  /// - Parameter body: sets up the world and starts the work; runs inside the simulation.
  /// - Throws: ``SimulationFailure``, whose description has the code that replays the run.
  /// - Cancellation: ends the run.
  @concurrent
  public func run(
    _ body: @escaping @Sendable (SimulatedWorld) async throws -> Void
  ) async throws -> SimulationReport {
    let world = SimulatedWorld(seed: seed)
    world.spawn { try await body(world) }
    let reason = drive(world)
    let report = SimulationReport(seed: seed, duration: world.now, events: world.recorder.events)
    world.close()
    if let reason { throw SimulationFailure(reason, of: report, by: self) }
    return report
  }

  /// Runs all jobs, then advances the time, until no work is left. Returns the reason if the run stops early.
  private func drive(_ world: SimulatedWorld) -> SimulationFailure.Reason? {
    var generator = world.generator()
    var instant = world.clock.now
    var steps = 0
    while true {
      while runJob(of: world, using: &generator) {
        steps += 1
        if steps > stepsAtOneInstant { return .livelock }
      }
      if let error = world.tasks.failure { return .workFailed(error) }
      if world.tasks.isEmpty { return nil }
      if Task.isCancelled { return .cancelled }
      guard let next = world.simulatedClock.nextInstant else { return .deadlock }
      guard next.sinceStart <= limit else { return .limitExceeded }
      if next > instant { (instant, steps) = (next, 0) }
      steps += 1
      if steps > stepsAtOneInstant { return .livelock }
      world.simulatedClock.runNext()
    }
  }

  private func runJob(of world: SimulatedWorld, using generator: inout SeededGenerator) -> Bool {
    shufflesJobs ? world.executor.runNext(using: &generator) : world.executor.runNext()
  }
}

/// A failure of a simulation, with the code that replays the run.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible {
  /// The reason for a failure.
  package enum Reason: Sendable {
    /// The test's work threw an error.
    case workFailed(any Error)
    /// All tasks wait, but no wake-up is planned: a deadlock, or work that waits for an event outside of the
    /// simulation.
    case deadlock
    /// The run exceeded the limit.
    case limitExceeded
    /// The work loops without time passing.
    case livelock
    /// The task running the simulation was cancelled.
    case cancelled
  }

  /// The reason for the failure.
  package let reason: Reason
  /// The events before the failure.
  public let report: SimulationReport
  private let simulation: Simulation

  init(_ reason: Reason, of report: SimulationReport, by simulation: Simulation) {
    self.reason = reason
    self.report = report
    self.simulation = simulation
  }

  /// The seed of the run.
  package var seed: UInt64 { report.seed }

  /// The reason, the simulated time, and how to replay the run.
  public var description: String {
    let what =
      switch reason {
      case .workFailed(let error): "its work threw \(error)"
      case .deadlock: "all tasks wait and nothing is planned"
      case .limitExceeded: "it did not end within the limit"
      case .livelock: "its work loops without time passing"
      case .cancelled: "it was cancelled"
      }
    return "after \(report.duration) of simulated time: \(what). \(simulation.source) replays it."
  }
}

extension Simulation {
  /// The source code that creates the simulation; default arguments are omitted.
  fileprivate var source: String {
    let standard = Simulation(seed: seed)
    var arguments = ["seed: \(seed)"]
    if shufflesJobs != standard.shufflesJobs { arguments.append("shufflesJobs: \(shufflesJobs)") }
    if limit != standard.limit { arguments.append("limit: .seconds(\(limit / Duration.seconds(1)))") }
    return "Simulation(\(arguments.joined(separator: ", ")))"
  }
}
