/// Why a simulation did not come to its end; says how to repeat it.
public struct SimulationFailure: Error, Sendable, CustomStringConvertible {
  /// What happened.
  public enum Reason: Sendable {
    /// The test's own work threw.
    case threw(any Error)
    /// Everything waits, and nothing will ever happen: a deadlock, or work that waits for something outside.
    case stuck
    /// There was no end within the time that may pass.
    case endless
    /// Work went round in circles, and no time passed.
    case spinning
    /// The task that ran the simulation was cancelled.
    case cancelled
  }

  /// What happened.
  public let reason: Reason
  /// What had happened until then.
  public let report: SimulationReport
  private let simulation: Simulation

  init(_ reason: Reason, of report: SimulationReport, by simulation: Simulation) {
    self.reason = reason
    self.report = report
    self.simulation = simulation
  }

  /// The seed of the run.
  public var seed: UInt64 { report.seed }

  /// What happened, when, and how to see it again.
  public var description: String {
    let what =
      switch reason {
      case .threw(let error): "its work threw \(error)"
      case .stuck: "everything waits, and nothing will happen any more"
      case .endless: "it does not come to an end"
      case .spinning: "its work goes round in circles while no time passes"
      case .cancelled: "it was cancelled"
      }
    return "after \(report.duration) of simulated time: \(what). \(simulation.source) repeats it."
  }
}

extension Simulation {
  /// How it is made, without what it has by default.
  fileprivate var source: String {
    let standard = Simulation(seed: seed)
    var arguments = ["seed: \(seed)"]
    if shufflesJobs != standard.shufflesJobs { arguments.append("shufflesJobs: \(shufflesJobs)") }
    if limit != standard.limit { arguments.append("limit: .seconds(\(limit / Duration.seconds(1)))") }
    return "Simulation(\(arguments.joined(separator: ", ")))"
  }
}
