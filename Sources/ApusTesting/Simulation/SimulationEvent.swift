public import ApusCore

/// One thing that happened in a simulation.
public struct SimulationEvent: Sendable, Hashable, CustomStringConvertible {
  /// What happened.
  public enum Kind: Sendable, Hashable {
    /// A client began a call. Clients are numbered in the order in which the world made their settings.
    case callStarted(client: Int, call: UInt64)
    /// A call ended: with a value, or with an error of this code. `began` is when it had begun.
    case callEnded(client: Int, call: UInt64, began: Duration, failure: CallError.Code?)
    /// A request left for a server, at an attempt of its call.
    case sent(host: String, attempt: Int)
    /// A request or an answer was lost.
    case lost(host: String)
    /// A server that was down did not take the connection, or broke it.
    case down(host: String)
    /// A request arrived at a server; so many wait for it now, this one included if it does.
    case arrived(host: String, waiting: Int)
    /// A server sent an answer.
    case answered(host: String, status: Int)
    /// What the test's author wrote down.
    case note(String)
  }

  /// When, since the simulation began.
  public let time: Duration
  /// What happened.
  public let kind: Kind

  /// Makes an event.
  public init(time: Duration, kind: Kind) {
    self.time = time
    self.kind = kind
  }

  /// The event as a line.
  public var description: String {
    let text =
      switch kind {
      case .callStarted(let client, let call): "client \(client): call \(call) begins"
      case .callEnded(let client, let call, _, .none): "client \(client): call \(call) has its value"
      case .callEnded(let client, let call, _, .some(let code)):
        "client \(client): call \(call) fails, \(code.rawValue)"
      case .sent(let host, let attempt): "\(host): attempt \(attempt) leaves"
      case .lost(let host): "\(host): lost"
      case .down(let host): "\(host): down"
      case .arrived(let host, let waiting): "\(host): arrived, \(waiting) wait"
      case .answered(let host, let status): "\(host): answers \(status)"
      case .note(let text): text
      }
    return "\(time): \(text)"
  }
}
