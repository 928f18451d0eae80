import ApusCore
import ApusMiddleware

/// The state of a transfer in a queue: the goal of the app, the stored changes and the running task. A pure state
/// machine.
///
/// Commands and results change the state. A driver performs the actions that ``next()`` returns, one after the other,
/// and ends when there is no action left; a command then starts it again.
struct TransferState {
  /// An action of the driver.
  enum Action: Hashable {
    /// Write the record with the present state, then call ``stored(_:)``.
    case store
    /// Perform the transfer, then call ``ended(_:)``.
    case run
    /// Remove the transferred bytes, then call ``discarded(_:)``.
    case discard
    /// Remove the record, then call ``removed(_:)``.
    case remove
    /// Release the record and leave the list, then call ``left()``.
    case leave
  }

  /// The effects that the caller of a command must perform.
  struct Effects: Hashable {
    /// Whether a driver must be started.
    var startsDriver = false
    /// Whether the task that performs the transfer must be cancelled.
    var stopsRun = false
    /// The change to wait for, see ``isDone(_:)``. `nil`: the command is already in effect.
    var change: Int?
  }

  /// The state that the app has requested.
  enum Goal: Hashable {
    case run
    case pause
    case cancel
  }

  /// The reason why a transfer has left the queue.
  enum End: Hashable {
    case complete
    case cancelled
    /// The queue was closed; the record stays.
    case closed
    /// The record of a new transfer could not be written.
    case notStored
  }

  private(set) var goal: Goal
  private(set) var priority: CallPriority
  /// The error with which the transfer failed.
  private(set) var failure: CallError?
  /// The reason why the transfer has left the queue.
  private(set) var end: End?
  /// The error of the last command: the record could not be written, or the bytes could not be removed.
  private(set) var commandFailure: TransferError?
  /// Whether the transfer has left the scheduler's queue.
  private(set) var isAdmitted = false
  private(set) var isRunning = false
  /// Whether a command cancelled the running task, so that the task's error is no failure.
  private(set) var isStopping = false
  /// The value of ``end`` once it is certain, until the record is released.
  private var pendingEnd: End?
  private var isDriven = false
  private var isComplete = false
  /// Whether all content is transferred, and the app is being notified.
  private var isFinishing = false
  private var isDiscarded = false
  private var isClosing = false
  /// The number of changes of the record.
  private var changes: Int
  /// The number of the last stored change. 0: no record exists.
  private var storedChange: Int
  private var storing = 0
  /// The number of the change after a failed cancellation. The command that cancelled the transfer waits until this
  /// change is stored.
  private var restoring = 0

  /// Creates the state of a new transfer, whose record does not exist yet.
  init(priority: CallPriority) {
    (goal, self.priority, changes, storedChange) = (.run, priority, 1, 0)
  }

  /// Creates the state of a stored transfer.
  init(continuing goal: Goal, priority: CallPriority, failure: CallError?) {
    (self.goal, self.priority, self.failure, changes, storedChange) = (goal, priority, failure, 1, 1)
  }

  // MARK: Commands

  /// Starts the driver of a new transfer.
  mutating func start() -> Effects { Effects(startsDriver: claimDriver(), change: changes) }

  mutating func pause() -> Effects {
    guard isOpen else { return Effects() }
    // An earlier command may not have stopped the transfer yet.
    guard goal == .run || failure != nil else { return Effects(change: changes) }
    (goal, failure) = (.pause, nil)
    return change(stopsRun: true)
  }

  /// Continues a paused or failed transfer.
  mutating func resume() -> Effects {
    guard isOpen, goal == .pause || failure != nil else { return Effects() }
    (goal, failure) = (.run, nil)
    return change(stopsRun: false)
  }

  mutating func cancel() -> Effects {
    // Waits for an earlier command, except in the app's own closure, because the closure would wait for itself.
    guard isOpen else { return Effects(change: end == nil && !isFinishing ? changes : nil) }
    goal = .cancel
    return change(stopsRun: true)
  }

  /// Changes the priority. A waiting transfer is queued anew; the record of a running transfer is written when it ends.
  mutating func prioritize(_ priority: CallPriority) -> Effects {
    guard isOpen, priority != self.priority else { return Effects() }
    self.priority = priority
    var effects = change(stopsRun: !isAdmitted)
    effects.change = nil
    return effects
  }

  /// Ends the transfer in this process. Its record and its bytes stay.
  mutating func close() -> Effects {
    guard end == nil else { return Effects() }
    isClosing = true
    // The record is written once more, with the progress.
    if isRunning { changes += 1 }
    return Effects(startsDriver: claimDriver(), stopsRun: stopRun(), change: changes)
  }

  /// Whether commands have an effect: the transfer has not ended and is not being removed.
  private var isOpen: Bool { pendingEnd == nil && !isComplete && !isFinishing && goal != .cancel && !isClosing }

  private mutating func change(stopsRun: Bool) -> Effects {
    changes += 1
    commandFailure = nil
    return Effects(startsDriver: claimDriver(), stopsRun: stopsRun && stopRun(), change: changes)
  }

  private mutating func claimDriver() -> Bool {
    defer { isDriven = true }
    return !isDriven
  }

  private mutating func stopRun() -> Bool {
    guard isRunning, !isStopping else { return false }
    isStopping = true
    return true
  }

  // MARK: The driver

  /// Returns the next action; `nil` ends the driver.
  mutating func next() -> Action? {
    if end == nil {
      if pendingEnd != nil { return .leave }
      if isComplete { return .remove }
      // A cancellation is stored before the bytes are removed, so that the next process does not continue the transfer.
      if changes != storedChange {
        storing = changes
        return .store
      }
      if goal == .cancel { return isDiscarded ? .remove : .discard }
      if isClosing {
        pendingEnd = .closed
        return .leave
      }
      if goal == .run, failure == nil {
        (isRunning, isAdmitted, isStopping) = (true, false, false)
        return .run
      }
    }
    isDriven = false
    return nil
  }

  /// Records that the running transfer has left the scheduler's queue.
  mutating func admit() { isAdmitted = true }

  /// Records that all content is transferred. The app's closure, which may use the queue, is called next.
  mutating func finish() { isFinishing = true }

  /// Records that the record was written, or could not be written.
  mutating func stored(_ error: TransferError?) {
    if let error {
      // A transfer can be cancelled even if the disk is full.
      if goal != .cancel { commandFailure = error }
      if storedChange == 0 { pendingEnd = .notStored }
    }
    // A failed write is not repeated: the app receives the error, and the next change starts a new write.
    storedChange = storing
  }

  /// Records that the running transfer has ended.
  ///
  /// - Parameter error: `nil` if the transfer is complete.
  mutating func ended(_ error: CallError?) {
    let wasStopped = isStopping
    (isRunning, isAdmitted, isStopping, isFinishing) = (false, false, false, false)
    guard let error else {
      isComplete = true
      return
    }
    guard !wasStopped else { return }
    // The app cancelled the call by other means, for example by its tag.
    if error.isCancellation { goal = .pause } else { failure = error }
    changes += 1
  }

  /// Records that the bytes were removed, or could not be removed.
  mutating func discarded(_ error: TransferError?) {
    isDiscarded = error == nil
    guard let error else { return }
    (goal, commandFailure) = (.pause, error)
    changes += 1
    restoring = changes
  }

  /// Records that the record was removed, or could not be removed.
  mutating func removed(_ error: TransferError?) {
    commandFailure = error
    pendingEnd = isComplete ? .complete : .cancelled
  }

  /// Records that the transfer has left the list.
  mutating func left() { end = pendingEnd }

  // MARK: Queries

  /// Whether the transfer is being removed because the app has cancelled it. The app's closure is no longer called.
  var isBeingRemoved: Bool { goal == .cancel && end == nil && !isComplete && !isFinishing }

  /// Whether a change is stored, or the transfer has left the queue.
  func isDone(_ change: Int) -> Bool {
    end != nil
      || (storedChange >= max(change, restoring) && goal != .cancel && !isComplete && !isClosing && pendingEnd == nil)
  }

  /// The state as the app sees it.
  var publicState: Transfer.State {
    if let failure { return .failed(failure) }
    if goal == .pause { return .paused }
    return isAdmitted ? .running : .waiting
  }
}
