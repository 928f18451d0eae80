import ApusCore
import ApusMiddleware
import ApusTesting
import Testing

@testable import ApusTransfers

@Suite("The state of a queued transfer")
struct TransferStateTests {
  typealias Effects = TransferState.Effects

  private let lost = CallError(.connectionLost)
  private let full = TransferError(.diskFull)

  /// Returns the state of a new transfer that is stored and running.
  private func running() -> TransferState {
    var state = TransferState(priority: .low)
    #expect(state.start() == Effects(startsDriver: true, change: 1))
    #expect(state.next() == .store)
    state.stored(nil)
    #expect(state.next() == .run)
    return state
  }

  /// Performs actions until the driver ends, and returns the actions. A run ends with `error`; all other actions
  /// succeed.
  private func actions(_ state: inout TransferState, run error: CallError? = nil) -> [TransferState.Action] {
    var actions: [TransferState.Action] = []
    while let action = state.next() {
      actions.append(action)
      switch action {
      case .store: state.stored(nil)
      case .run: state.ended(error)
      case .discard: state.discarded(nil)
      case .remove: state.removed(nil)
      case .leave: state.left()
      }
    }
    return actions
  }

  @Test("A new transfer is stored before it runs, and leaves the queue when its record is removed")
  func complete() {
    var state = TransferState(priority: .low)
    _ = state.start()
    #expect(actions(&state) == [.store, .run, .remove, .leave])
    #expect(state.end == .complete)
    #expect(state.next() == nil)
  }

  @Test("A stored transfer runs immediately, unless it was paused or has failed")
  func stored() {
    var waiting = TransferState(continuing: .run, priority: .low, failure: nil)
    _ = waiting.start()
    #expect(actions(&waiting) == [.run, .remove, .leave])
    var paused = TransferState(continuing: .pause, priority: .low, failure: nil)
    _ = paused.start()
    #expect(actions(&paused) == [] && paused.end == nil)
    var failed = TransferState(continuing: .run, priority: .low, failure: lost)
    _ = failed.start()
    #expect(actions(&failed) == [] && failed.failure?.code == .connectionLost)
  }

  @Test("A transfer whose first record cannot be written is not in the queue")
  func notStored() {
    var state = TransferState(priority: .low)
    _ = state.start()
    #expect(state.next() == .store)
    state.stored(full)
    #expect(actions(&state) == [.leave])
    #expect(state.end == .notStored && state.commandFailure?.problem == .diskFull && state.isDone(1))
  }

  @Test("Pausing stops the run and stores the pause; the command returns only after both")
  func pause() {
    var state = running()
    let effects = state.pause()
    #expect(effects == Effects(stopsRun: true, change: 2))
    #expect(!state.isDone(2))
    // A second command waits for the same change.
    #expect(state.pause() == Effects(change: 2))
    state.ended(CallError(.cancelled))
    #expect(!state.isDone(2))
    #expect(actions(&state) == [.store])
    #expect(state.isDone(2) && state.failure == nil && state.goal == .pause)
    #expect(state.resume() == Effects(startsDriver: true, change: 3))
    #expect(actions(&state) == [.store, .run, .remove, .leave])
  }

  @Test("A transfer that completes while it is being stopped is complete")
  func completeWhileStopping() {
    for command in [{ $0.pause() }, { $0.cancel() }, { $0.close() }] as [(inout TransferState) -> Effects] {
      var state = running()
      #expect(command(&state).stopsRun)
      state.ended(nil)
      #expect(actions(&state) == [.remove, .leave])
      #expect(state.end == .complete)
    }
  }

  @Test("A transfer resumed while it is being stopped runs again, and its interruption is not a failure")
  func resumedWhileStopping() {
    var state = running()
    _ = state.pause()
    #expect(state.resume() == Effects(change: 3))
    state.ended(lost)
    #expect(actions(&state) == [.store, .run, .remove, .leave])
  }

  @Test("A failure is stored, and the transfer starts again only when it is resumed")
  func failure() {
    var state = running()
    state.ended(lost)
    #expect(actions(&state) == [.store])
    #expect(state.failure?.code == .connectionLost && state.end == nil)
    #expect(state.resume() == Effects(startsDriver: true, change: 3))
    #expect(actions(&state, run: lost) == [.store, .run, .store])
    // Pausing a failed transfer removes its failure.
    #expect(state.pause().startsDriver)
    #expect(actions(&state) == [.store] && state.failure == nil)
  }

  @Test("A transfer is paused if its call is cancelled without a command of the queue")
  func cancelledCall() {
    var state = running()
    state.ended(CallError(.cancelled))
    #expect(actions(&state) == [.store])
    #expect(state.goal == .pause && state.failure == nil)
  }

  @Test("A cancellation is stored first, then the bytes are removed, then the record")
  func cancel() {
    var state = running()
    #expect(state.cancel() == Effects(stopsRun: true, change: 2))
    #expect(state.cancel() == Effects(change: 2) && state.resume() == Effects())
    state.ended(CallError(.cancelled))
    #expect(actions(&state) == [.store, .discard, .remove, .leave])
    #expect(state.end == .cancelled && state.isDone(2))
  }

  @Test("A transfer whose process ended during its cancellation is removed by the next process, and never runs")
  func stillCancelled() {
    var state = TransferState(continuing: .cancel, priority: .low, failure: lost)
    #expect(state.isBeingRemoved)
    _ = state.start()
    #expect(state.resume() == Effects())
    #expect(actions(&state) == [.discard, .remove, .leave])
    #expect(state.end == .cancelled)
  }

  @Test("A transfer is cancelled even if its record cannot be written")
  func cancelOnFullDisk() {
    var state = TransferState(continuing: .pause, priority: .low, failure: nil)
    _ = state.cancel()
    #expect(state.next() == .store)
    state.stored(full)
    #expect(actions(&state) == [.discard, .remove, .leave])
    #expect(state.end == .cancelled && state.commandFailure == nil)
  }

  @Test("A transfer whose bytes cannot be removed stays in the queue, paused")
  func notDiscarded() {
    var state = TransferState(continuing: .pause, priority: .low, failure: nil)
    #expect(state.cancel() == Effects(startsDriver: true, change: 2))
    #expect(state.next() == .store)
    state.stored(nil)
    #expect(state.next() == .discard)
    state.discarded(full)
    #expect(!state.isDone(2))
    #expect(actions(&state) == [.store])
    #expect(state.isDone(2) && state.commandFailure?.problem == .diskFull && state.goal == .pause)
    #expect(state.cancel().startsDriver)
    #expect(actions(&state) == [.store, .discard, .remove, .leave])
  }

  @Test("A change during a write of the record is written, too")
  func changeDuringWrite() {
    var state = TransferState(priority: .low)
    _ = state.start()
    #expect(state.next() == .store)
    let pause = state.pause()
    state.stored(nil)
    #expect(pause == Effects(change: 2) && !state.isDone(2))
    #expect(actions(&state) == [.store])
    #expect(state.isDone(2))
  }

  @Test("A failed write of the record is reported to the command and not repeated")
  func failedWrite() {
    var state = TransferState(continuing: .pause, priority: .low, failure: nil)
    _ = state.start()
    #expect(state.next() == nil)
    _ = state.resume()
    #expect(state.next() == .store)
    state.stored(full)
    #expect(state.isDone(2) && state.commandFailure?.problem == .diskFull)
    #expect(state.next() == .run)
    #expect(state.pause().stopsRun && state.commandFailure == nil)
  }

  @Test("Commands issued in the completion closure have no effect and do not wait")
  func finishing() {
    var state = running()
    state.finish()
    #expect(state.pause() == Effects() && state.cancel() == Effects() && state.resume() == Effects())
    #expect(state.close() == Effects(stopsRun: true, change: 2))
    state.ended(nil)
    #expect(actions(&state) == [.remove, .leave])
    #expect(state.end == .complete)
  }

  @Test("A new priority queues a waiting transfer anew, and does not affect a running transfer")
  func priority() {
    var state = running()
    #expect(state.prioritize(.low) == Effects())
    #expect(state.prioritize(.high) == Effects(stopsRun: true))
    state.ended(CallError(.cancelled))
    #expect(state.next() == .store)
    state.stored(nil)
    #expect(state.next() == .run && state.priority == .high)
    state.admit()
    #expect(state.prioritize(.normal) == Effects())
    state.ended(nil)
    #expect(actions(&state) == [.remove, .leave])
  }

  @Test("Closing stops the run, stores the progress and keeps the record")
  func close() {
    var state = running()
    #expect(state.close() == Effects(stopsRun: true, change: 2))
    state.ended(CallError(.cancelled))
    #expect(actions(&state) == [.store, .leave])
    #expect(state.end == .closed && state.isDone(2))
    #expect(state.pause() == Effects() && state.close() == Effects())
  }

  @Test("In every order of commands and results one driver runs, every command returns, and closing ends the transfer")
  func interleavings() {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<20_000 {
      var course = RandomCourse()
      for _ in 0..<Int.random(in: 1...12, using: &random) { course.step(&random) }
      let isSound = course.close(&random)
      #expect(isSound, "the driver never ends, there are two, or a command never settles")
    }
  }
}

/// A random sequence of commands and results, with a driver that commands interrupt at each action.
private struct RandomCourse {
  private var state = TransferState(priority: .low)
  private var isDriven = false
  private var hasTwoDrivers = false
  private var action: TransferState.Action?
  /// The changes that commands wait for.
  private var waiting: [Int] = []

  init() {
    note(state.start())
  }

  mutating func step(_ random: inout SeededGenerator) {
    switch Int.random(in: 0..<10, using: &random) {
    case 0: note(state.pause())
    case 1: note(state.resume())
    case 2 where Bool.random(using: &random): note(state.cancel())
    case 3: note(state.prioritize(Bool.random(using: &random) ? .high : .low))
    default: perform(&random)
    }
  }

  /// Closes the queue. Returns whether the transfer then ends and all commands return.
  mutating func close(_ random: inout SeededGenerator) -> Bool {
    note(state.close())
    var rounds = 0
    while isDriven, rounds < 200 {
      perform(&random)
      rounds += 1
    }
    return !isDriven && !hasTwoDrivers && state.end != nil && waiting.allSatisfy { state.isDone($0) }
  }

  private mutating func note(_ effects: TransferState.Effects) {
    if effects.startsDriver {
      hasTwoDrivers = hasTwoDrivers || isDriven
      isDriven = true
      advance()
    }
    if let change = effects.change { waiting.append(change) }
  }

  private mutating func advance() {
    action = state.next()
    if action == nil { isDriven = false }
  }

  private mutating func perform(_ random: inout SeededGenerator) {
    let fails = Int.random(in: 0..<8, using: &random) == 0
    switch action {
    case .store: state.stored(fails ? TransferError(.diskFull) : nil)
    case .run:
      if Bool.random(using: &random) { state.admit() }
      // A run that is being stopped always ends here. Any other run ends at random.
      guard state.isStopping || Int.random(in: 0..<4, using: &random) == 0 else { return }
      state.ended(state.isStopping ? CallError(.cancelled) : fails ? CallError(.connectionLost) : nil)
    case .discard: state.discarded(fails ? TransferError(.diskFull) : nil)
    case .remove: state.removed(nil)
    case .leave: state.left()
    case nil: return
    }
    advance()
  }
}
