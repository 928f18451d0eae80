import ApusCore

/// Runs clients against simulated servers, in virtual time and on one thread, so that a run is a function of its seed.
///
/// The clients are real ones, with any pipeline; only clock, tasks, randomness and network are the simulation's. Hours
/// pass in seconds, and a run that fails can be repeated: its error says how.
///
/// ```swift
/// let report = try await Simulation(seed: 7).run { world in
///   let server = world.server("api.example.com") {
///     $0.capacity = 20
///     $0.serviceTime = .exponential(mean: .milliseconds(100))
///   }
///   server.change(at: .seconds(60)) { $0.capacity /= 2 }
///   let api = world.client(of: server, over: SimulatedLink(loss: 0.01))
///   world.every(.exponential(mean: .milliseconds(10)), for: .seconds(120)) { number in
///     _ = try? await api.send(Request<String>.get("/items/\(number)"))
///   }
/// }
/// print(report.answers().csv())
/// ```
public struct Simulation: Sendable {
  /// What the run follows from.
  public var seed: UInt64
  /// Whether jobs that could run at the same time do so in an order drawn from the seed, so that each seed tries
  /// another interleaving; else those run first that came first.
  public var shufflesJobs: Bool
  /// The longest time that may pass in it.
  public var limit: Duration
  /// More steps than this at one instant are work that goes round in circles.
  var stepsAtOneInstant = 10_000_000

  /// Describes a run.
  ///
  /// - Parameters:
  ///   - seed: what it follows from.
  ///   - shufflesJobs: whether jobs that could run at the same time are put in an order of the seed's. Default: no.
  ///   - limit: the longest time that may pass in it. Default: a day.
  public init(seed: UInt64, shufflesJobs: Bool = false, limit: Duration = .seconds(24 * 60 * 60)) {
    self.seed = seed
    self.shufflesJobs = shufflesJobs
    self.limit = limit
  }

  /// Runs until `body` and all work that it spawned have ended, and tells what happened.
  ///
  /// - Parameter body: makes the world and starts what happens in it; runs in the simulation itself.
  /// - Throws: ``SimulationFailure``, which says how to repeat the run.
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

  /// Has everything run that can, then moves the time on, until nothing is left; answers why it had to stop before.
  private func drive(_ world: SimulatedWorld) -> SimulationFailure.Reason? {
    var generator = world.generator()
    var instant = world.clock.now
    var steps = 0
    while true {
      while runJob(of: world, using: &generator) {
        steps += 1
        if steps > stepsAtOneInstant { return .spinning }
      }
      if let error = world.tasks.failure { return .threw(error) }
      if world.tasks.isEmpty { return nil }
      if Task.isCancelled { return .cancelled }
      guard let next = world.clock.nextInstant else { return .stuck }
      guard next.sinceStart <= limit else { return .endless }
      if next > instant { (instant, steps) = (next, 0) }
      steps += 1
      if steps > stepsAtOneInstant { return .spinning }
      world.clock.runNext()
    }
  }

  private func runJob(of world: SimulatedWorld, using generator: inout SeededGenerator) -> Bool {
    shufflesJobs ? world.executor.runNext(using: &generator) : world.executor.runNext()
  }
}
