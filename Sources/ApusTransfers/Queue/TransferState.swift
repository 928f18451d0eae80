import ApusCore
import ApusMiddleware

/// The course of a transfer in a queue: what the app wants, what is stored, and what runs. A pure state machine.
///
/// Commands and results change it. A driver performs the ``next`` actions one after the other and ends when there is
/// none; a command starts it again.
struct TransferState {
  /// An action of the driver.
  enum Action: Hashable {
    /// Write the record as it is now, then call ``stored(_:)``.
    case store
    /// Transfer, then call ``ended(_:)``.
    case run
    /// Remove what is kept of the transfer, then call ``discarded(_:)``.
    case discard
    /// Remove the record, then call ``removed(_:)``.
    case remove
    /// Release the record and leave the list, then call ``left()``.
    case leave
  }

  /// What a command asks of its caller.
  struct Effects: Hashable {
    /// Whether a driver must be started.
    var startsDriver = false
    /// Whether the task that transfers must be cancelled.
    var stopsRun = false
    /// The change to wait for, see ``isSettled(_:)``. `nil`: the command has had its effect.
    var change: Int?
  }

  /// What the app wants.
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
    /// The record could not be written in the first place.
    case notStored
  }

  private(set) var goal: Goal
  private(set) var priority: CallPriority
  /// The error with which the transfer failed.
  private(set) var failure: CallError?
  /// Why the transfer has left the queue.
  private(set) var end: End?
  /// The error of the last command: the record could not be written, or the bytes not removed.
  private(set) var commandFailure: TransferError?
  /// Whether the transfer has left the scheduler's queue.
  private(set) var isAdmitted = false
  private(set) var isRunning = false
  /// Whether the running task was cancelled by a command, so that its error is no failure.
  private(set) var isStopping = false
  /// The ``end`` as soon as it is certain.
  private var coming: End?
  private var isDriven = false
  private var isComplete = false
  /// Whether everything is transferred, and the app is being told.
  private var isFinishing = false
  private var isDiscarded = false
  private var isClosing = false
  /// Counts the changes of the record.
  private var changes: Int
  /// The number of the last change that is stored; 0: there is no record.
  private var storedChange: Int
  private var storing = 0
  /// The change that stores that a transfer could not be cancelled. The command that cancelled it waits for it.
  private var restoring = 0

  /// A new transfer, whose record does not exist yet.
  init(priority: CallPriority) {
    (goal, self.priority, changes, storedChange) = (.run, priority, 1, 0)
  }

  /// A stored transfer.
  init(continuing goal: Goal, priority: CallPriority, failure: CallError?) {
    (self.goal, self.priority, self.failure, changes, storedChange) = (goal, priority, failure, 1, 1)
  }

  // MARK: Commands

  /// Starts the driver of a transfer that was just made.
  mutating func start() -> Effects { Effects(startsDriver: claimDriver(), change: changes) }

  mutating func pause() -> Effects {
    guard isOpen else { return Effects() }
    // An earlier command may still have to stop the transfer.
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
    // An earlier command may not have had its effect yet. The app's closure must not wait for itself.
    guard isOpen else { return Effects(change: end == nil && !isFinishing ? changes : nil) }
    goal = .cancel
    return change(stopsRun: true)
  }

  /// Changes the priority. A transfer that waits is queued anew; of one that runs, the record is written when it ends.
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
    // The record gets the progress.
    if isRunning { changes += 1 }
    return Effects(startsDriver: claimDriver(), stopsRun: stopRun(), change: changes)
  }

  /// Whether commands have an effect: the transfer is neither over nor being removed.
  private var isOpen: Bool { coming == nil && !isComplete && !isFinishing && goal != .cancel && !isClosing }

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
      if coming != nil { return .leave }
      if isComplete { return .remove }
      // Also before the bytes are removed: the next process must not begin again what was cancelled.
      if changes != storedChange {
        storing = changes
        return .store
      }
      if goal == .cancel { return isDiscarded ? .remove : .discard }
      if isClosing {
        coming = .closed
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

  /// The running transfer has left the scheduler's queue.
  mutating func admit() { isAdmitted = true }

  /// Everything is transferred. The app's closure is called next, and may use the queue.
  mutating func finish() { isFinishing = true }

  /// The record was written, or could not be.
  mutating func stored(_ error: TransferError?) {
    if let error {
      // A full disk does not keep a transfer from being cancelled.
      if goal != .cancel { commandFailure = error }
      if storedChange == 0 { coming = .notStored }
    }
    // A failure is not repeated: the app learns of it, and the next change is written again.
    storedChange = storing
  }

  /// The running transfer has ended.
  ///
  /// - Parameter error: `nil` if it is complete.
  mutating func ended(_ error: CallError?) {
    let wasStopped = isStopping
    (isRunning, isAdmitted, isStopping, isFinishing) = (false, false, false, false)
    guard let error else {
      isComplete = true
      return
    }
    guard !wasStopped else { return }
    // The app cancelled the call itself, for example by its tag.
    if error.isCancellation { goal = .pause } else { failure = error }
    changes += 1
  }

  /// The bytes were removed, or could not be.
  mutating func discarded(_ error: TransferError?) {
    isDiscarded = error == nil
    guard let error else { return }
    (goal, commandFailure) = (.pause, error)
    changes += 1
    restoring = changes
  }

  /// The record was removed, or could not be.
  mutating func removed(_ error: TransferError?) {
    commandFailure = error
    coming = isComplete ? .complete : .cancelled
  }

  /// The transfer has left the list.
  mutating func left() { end = coming }

  // MARK: Queries

  /// Whether the transfer is being removed because the app has cancelled it. The app's closure is no longer called.
  var isBeingRemoved: Bool { goal == .cancel && end == nil && !isComplete && !isFinishing }

  /// Whether a change is stored, or the transfer is over.
  func isSettled(_ change: Int) -> Bool {
    end != nil
      || (storedChange >= max(change, restoring) && goal != .cancel && !isComplete && !isClosing && coming == nil)
  }

  /// The state as the app sees it.
  var shown: Transfer.State {
    if let failure { return .failed(failure) }
    if goal == .pause { return .paused }
    return isAdmitted ? .running : .waiting
  }
}
