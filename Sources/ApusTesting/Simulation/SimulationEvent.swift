package import ApusCore
import Synchronization

/// An event of a simulation.
package struct SimulationEvent: Sendable, Hashable, CustomStringConvertible {
  /// The kind of event.
  package enum Kind: Sendable, Hashable {
    /// A client started a call. Clients are numbered from 1, in the order their settings were created.
    case callStarted(client: Int, call: UInt64)
    /// A call that started at `began` ended: with a value, or with an error of code `failure`.
    case callEnded(client: Int, call: UInt64, began: Duration, failure: CallError.Code?)
    /// A request was sent to a server, in the given attempt of its call.
    case sent(host: String, attempt: Int)
    /// A request or a response was lost.
    case lost(host: String)
    /// A server that is down refused or closed a connection.
    case down(host: String)
    /// A request arrived at a server; `waiting` is the length of the queue, including this request if it is queued.
    case arrived(host: String, waiting: Int)
    /// A server sent a response.
    case responded(host: String, status: Int)
    /// A note of the test; see ``SimulatedWorld/note(_:)``.
    case note(String)
  }

  /// The time since the start of the simulation.
  package let time: Duration
  /// The kind of event.
  package let kind: Kind

  package init(time: Duration, kind: Kind) {
    self.time = time
    self.kind = kind
  }

  /// The event as a line of text.
  package var description: String {
    let text =
      switch kind {
      case .callStarted(let client, let call): "client \(client): call \(call) starts"
      case .callEnded(let client, let call, _, .none): "client \(client): call \(call) succeeds"
      case .callEnded(let client, let call, _, .some(let code)):
        "client \(client): call \(call) fails: \(code.rawValue)"
      case .sent(let host, let attempt): "\(host): attempt \(attempt) sent"
      case .lost(let host): "\(host): lost"
      case .down(let host): "\(host): down"
      case .arrived(let host, let waiting): "\(host): request arrived, \(waiting) queued"
      case .responded(let host, let status): "\(host): responds \(status)"
      case .note(let text): text
      }
    return "\(time): \(text)"
  }
}

/// A recorder of a simulation's events.
final class SimulationRecorder: Sendable {
  let clock: SimulatedClock
  private let all = Mutex<[SimulationEvent]>([])

  init(clock: SimulatedClock) {
    self.clock = clock
  }

  var events: [SimulationEvent] { all.withLock { $0 } }

  func record(_ kind: SimulationEvent.Kind) {
    let event = SimulationEvent(time: clock.now.sinceStart, kind: kind)
    all.withLock { $0.append(event) }
  }
}

/// An observer that records when the calls of a client start and end.
struct SimulationObserver: CallObserver {
  let client: Int
  let recorder: SimulationRecorder

  func observe(_ event: TraceEvent, of call: CallEntry) {
    switch event.kind {
    case .started: recorder.record(.callStarted(client: client, call: call.serial))
    case .succeeded: end(call, nil)
    case .failed(let code): end(call, code)
    default: break
    }
  }

  private func end(_ call: CallEntry, _ failure: CallError.Code?) {
    recorder.record(
      .callEnded(client: client, call: call.serial, began: call.startInstant.sinceStart, failure: failure))
  }
}
