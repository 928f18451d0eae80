public import ApusCore
import HTTPTypes
import Synchronization

/// A server of a simulation, with a capacity, a queue and times at which it is down.
///
/// Made by ``SimulatedWorld/server(_:_:)``, and changed at any time of the run:
///
/// <!-- sample: none it needs a world -->
/// ```swift
/// server.change(at: .seconds(60)) { $0.capacity /= 2 }    // half of it fails
/// server.change(at: .seconds(120)) { $0.capacity *= 2 }   // and is back a minute later
/// ```
public final class SimulatedServer: Sendable {
  typealias Outcome = Result<SimulatedAnswer, TransportError>

  private struct Job: Sendable {
    let request: RequestMessage
    let reply: @Sendable (Outcome) -> Void
  }

  private struct State {
    var behaviour: Behaviour
    var queue: ServerQueue
    var jobs: [UInt64: Job] = [:]
    var generator: SeededGenerator
  }

  /// Its host, lower case.
  public let host: String
  private let clock: SimulatedClock
  private let recorder: SimulationRecorder
  private let state: Mutex<State>

  init(_ host: String, _ behaviour: Behaviour, generator: SeededGenerator, recorder: SimulationRecorder) {
    self.host = host
    self.recorder = recorder
    clock = recorder.clock
    let queue = ServerQueue(capacity: behaviour.capacity, places: behaviour.places)
    state = Mutex(State(behaviour: behaviour, queue: queue, generator: generator))
  }

  /// Where it is: `https` and its host.
  public var baseURL: BaseURL { BaseURL(stringLiteral: "https://\(host)") }

  /// How it behaves now.
  public var behaviour: Behaviour { state.withLock { $0.behaviour } }

  /// Changes how it behaves, from now on: what it works on it finishes, and who waits keeps the place.
  public func change(_ change: (inout Behaviour) -> Void) {
    var behaviour = behaviour
    change(&behaviour)
    let changed = behaviour
    let starting = state.withLock { state in
      state.behaviour = changed
      return state.queue.resize(capacity: changed.capacity, places: changed.places)
    }
    for ticket in starting { start(ticket) }
  }

  /// Changes how it behaves, once the simulation has come to `time`.
  public func change(at time: Duration, _ change: @escaping @Sendable (inout Behaviour) -> Void) {
    clock.plan(at: MonotonicInstant(sinceStart: time)) { self.change(change) }
  }

  /// A request has arrived.
  func arrive(_ request: RequestMessage, _ ticket: UInt64, reply: @escaping @Sendable (Outcome) -> Void) {
    let time = clock.now.sinceStart
    guard !behaviour.isDown(at: time) else {
      recorder.record(.down(host: host))
      return reply(.failure(TransportError(.connectionFailed, requestState: .notSent, detail: "the server is down")))
    }
    let (arrival, waiting) = state.withLock { state in
      let arrival = state.queue.arrive(ticket)
      if arrival != .refused { state.jobs[ticket] = Job(request: request, reply: reply) }
      return (arrival, state.queue.waiting.count)
    }
    recorder.record(.arrived(host: host, waiting: waiting))
    switch arrival {
    case .starts: start(ticket)
    case .waits: break
    case .refused: send(.overloaded(retryAfter: behaviour.retryAfter), by: reply)
    }
  }

  /// The client of a request has gone.
  func leave(_ ticket: UInt64) {
    state.withLock { state in
      guard state.behaviour.noticesLeaving, state.queue.leave(ticket) else { return }
      state.jobs[ticket] = nil
    }
  }

  private func start(_ ticket: UInt64) {
    guard let job = state.withLock({ $0.jobs[ticket] }) else { return }
    // Made outside of the lock: it is the test's own code, and may ask this server how it behaves.
    let answer = behaviour.answer(job.request)
    let time = state.withLock { state in
      (answer.serviceTime ?? state.behaviour.serviceTime).sample(using: &state.generator)
    }
    clock.plan(after: time) { self.finish(ticket, answer) }
  }

  private func finish(_ ticket: UInt64, _ answer: SimulatedAnswer) {
    let (job, starting) = state.withLock { state in
      (state.jobs.removeValue(forKey: ticket), state.queue.finish())
    }
    for ticket in starting { start(ticket) }
    guard let job else { return }
    guard behaviour.isDown(at: clock.now.sinceStart) else { return send(answer, by: job.reply) }
    recorder.record(.down(host: host))
    job.reply(.failure(TransportError(.broken, requestState: .maybeSent, detail: "the server went down")))
  }

  private func send(_ answer: SimulatedAnswer, by reply: (Outcome) -> Void) {
    recorder.record(.answered(host: host, status: answer.head.status.code))
    reply(.success(answer))
  }
}
