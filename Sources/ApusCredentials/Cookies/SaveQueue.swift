/// The changes that a writer has to save, and the tasks that wait for it. A pure state machine.
///
/// A write saves all changes that were made before it began, so that changes during a write share the next one. There
/// is one write at a time.
struct SaveQueue: Hashable, Sendable {
  typealias Ticket = UInt64

  /// A waiting task.
  private struct Waiter: Hashable, Sendable {
    let ticket: Ticket
    /// The number of changes that must be saved.
    let changes: UInt64
  }

  /// The number of changes so far.
  private var changes: UInt64 = 0
  /// The number of changes that the latest write contains.
  private var begun: UInt64 = 0
  /// Whether a writer runs, between ``change()`` and the ``begin()`` that returns `false`.
  private var isRunning = false
  private var isWriting = false
  /// The waiting tasks, in order of arrival.
  private var waiting: [Waiter] = []
  private var nextTicket: Ticket = 0

  /// Records a change. Returns whether a writer must be started.
  mutating func change() -> Bool {
    changes += 1
    defer { isRunning = true }
    return !isRunning
  }

  /// Begins the next write. Returns `false` if all changes are saved: the writer ends.
  mutating func begin() -> Bool {
    isRunning = begun != changes
    isWriting = isRunning
    begun = changes
    return isRunning
  }

  /// Ends a write, successfully or not. Returns the tasks whose changes it contains.
  mutating func end() -> [Ticket] {
    isWriting = false
    let resumed = waiting.filter { $0.changes <= begun }
    waiting.removeAll { $0.changes <= begun }
    return resumed.map(\.ticket)
  }

  /// Adds a task that waits until all changes so far are saved. Returns `nil` if they are.
  mutating func wait() -> Ticket? {
    guard isWriting || begun != changes else { return nil }
    let ticket = nextTicket
    nextTicket += 1
    waiting.append(Waiter(ticket: ticket, changes: changes))
    return ticket
  }

  /// Removes a waiting task.
  mutating func cancel(_ ticket: Ticket) {
    waiting.removeAll { $0.ticket == ticket }
  }
}
