import ApusCore
import Synchronization

/// Writes down what happens in a simulation.
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

/// Writes down when the calls of one client begin and end.
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
