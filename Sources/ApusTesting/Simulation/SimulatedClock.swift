public import ApusCore
import Synchronization

/// The clock of a simulation: it stands still while anything can run, and jumps to the next instant at which something
/// is to happen when everything waits.
public final class SimulatedClock: MonotonicClock {
  private typealias Sleeper = CheckedContinuation<Void, any Error>

  private enum Item: Sendable {
    case sleeper(CheckedContinuation<Void, any Error>)
    case action(@Sendable () -> Void)
  }

  private enum Answer {
    case sleeps
    case passed
    case cancelled
  }

  private struct State {
    var agenda = Agenda<Item>()
    var isClosed = false
  }

  private let state = Mutex(State())

  init() {}

  /// The present instant; a simulation begins at zero.
  public var now: MonotonicInstant { state.withLock { $0.agenda.now } }

  /// Sleeps until the simulation has come to `instant`; returns at once when it is there already.
  ///
  /// - Throws: `CancellationError` when the sleeping task is cancelled, and once the simulation is over.
  public func sleep(until instant: MonotonicInstant) async throws {
    // Work that never heeds the end of its simulation lets others run at least.
    if state.withLock({ $0.isClosed }) { await Task.yield() }
    let number = state.withLock { $0.agenda.newNumber() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (sleeper: Sleeper) in
        switch admit(sleeper, until: instant, number) {
        case .sleeps: break
        case .passed: sleeper.resume()
        case .cancelled: sleeper.resume(throwing: CancellationError())
        }
      }
    } onCancel: {
      if case .sleeper(let sleeper) = state.withLock({ $0.agenda.cancel(number) }) {
        sleeper.resume(throwing: CancellationError())
      }
    }
  }

  private func admit(_ sleeper: Sleeper, until instant: MonotonicInstant, _ number: UInt64) -> Answer {
    state.withLock { state in
      // Asked under the lock: a cancellation before is seen here, a later one finds the sleeper.
      if Task.isCancelled || state.isClosed { return .cancelled }
      guard instant > state.agenda.now else { return .passed }
      state.agenda.plan(.sleeper(sleeper), at: instant, number: number)
      return .sleeps
    }
  }

  /// Has `action` run once the simulation has come to `instant`, between any two jobs; never once it is over.
  func plan(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard !state.isClosed else { return }
      let number = state.agenda.newNumber()
      state.agenda.plan(.action(action), at: instant, number: number)
    }
  }

  /// Has `action` run after a time.
  func plan(after time: Duration, _ action: @escaping @Sendable () -> Void) {
    plan(at: now.advanced(by: time), action)
  }

  /// When something happens next; `nil` when everything that waits waits for something else.
  var nextInstant: MonotonicInstant? { state.withLock { $0.agenda.nextInstant() } }

  /// Moves on to what happens next and has it happen.
  func runNext() {
    switch state.withLock({ $0.agenda.next() }) {
    case nil: break
    case .sleeper(let sleeper): sleeper.resume()
    case .action(let action): action()
    }
  }

  /// Ends time: who sleeps is cancelled, what was planned does not happen.
  func close() {
    let items = state.withLock { state in
      state.isClosed = true
      return state.agenda.removeAll()
    }
    for case .sleeper(let sleeper) in items { sleeper.resume(throwing: CancellationError()) }
  }
}
