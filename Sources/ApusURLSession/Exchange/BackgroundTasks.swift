/// The tasks of a background session and the exchanges that wait for them, by the name of the task. A pure state
/// machine.
///
/// A task may have been started by an earlier process, and may end before an exchange of this process claims it.
struct BackgroundTasks<Waiter, Outcome> {
  /// The way in which an exchange gets its outcome.
  enum Claim {
    /// There is no task: create a task and call ``started(_:_:)``.
    case create
    /// The task of an earlier exchange or process is running; the waiter gets its outcome.
    case wait(task: Int)
    /// The task has already ended.
    case finished(Outcome)
    /// Another exchange waits for the task.
    case busy
  }

  private enum Entry {
    /// A waiter whose task is being created.
    case creating(Waiter)
    case running(task: Int, Waiter?)
    case ended(Outcome)
  }

  private var entries: [String: Entry] = [:]
  /// The tasks that this process has cancelled. The end of these tasks is ignored.
  private var cancelled: Set<Int> = []

  /// Whether there are no tasks, waiters or stored outcomes.
  var isEmpty: Bool { entries.isEmpty && cancelled.isEmpty }

  /// Whether there is a task with a name, or its outcome.
  func knows(_ name: String) -> Bool { entries[name] != nil }

  /// Adds a running task of an earlier process.
  mutating func restore(_ name: String, task: Int) {
    if entries[name] == nil { entries[name] = .running(task: task, nil) }
  }

  /// Claims the outcome of a task for an exchange.
  mutating func claim(_ name: String, _ waiter: Waiter) -> Claim {
    switch entries[name] {
    case nil:
      entries[name] = .creating(waiter)
      return .create
    case .running(let task, nil):
      entries[name] = .running(task: task, waiter)
      return .wait(task: task)
    case .ended(let outcome):
      entries[name] = nil
      return .finished(outcome)
    case .creating, .running: return .busy
    }
  }

  /// Adds the task created for a claim. Returns `false` if its exchange was abandoned: the task must then be cancelled.
  mutating func started(_ name: String, task: Int) -> Bool {
    guard case .creating(let waiter) = entries[name] else {
      cancelled.insert(task)
      return false
    }
    entries[name] = .running(task: task, waiter)
    return true
  }

  /// Ends a task. Returns the waiter for the outcome. Without a waiter, the outcome is stored for the next claim.
  mutating func end(_ name: String, task: Int, _ outcome: Outcome) -> Waiter? {
    if cancelled.remove(task) != nil { return nil }
    switch entries[name] {
    case .running(task, let waiter?):
      entries[name] = nil
      return waiter
    case .running(task, nil), nil:
      entries[name] = .ended(outcome)
      return nil
    // The name belongs to a later task.
    case .running, .creating, .ended: return nil
    }
  }

  /// Abandons the exchange of a name. Returns its waiter, and the task to cancel.
  mutating func abandon(_ name: String) -> (waiter: Waiter?, task: Int?) {
    switch entries[name] {
    case .creating(let waiter):
      entries[name] = nil
      return (waiter, nil)
    case .running(let task, let waiter?):
      entries[name] = nil
      cancelled.insert(task)
      return (waiter, task)
    case .running(_, nil), .ended, nil: return (nil, nil)
    }
  }

  /// Abandons all exchanges. Their tasks continue. Returns the waiters.
  mutating func abandonAll() -> [Waiter] {
    var waiters: [Waiter] = []
    for (name, entry) in entries {
      switch entry {
      case .creating(let waiter):
        waiters.append(waiter)
        entries[name] = nil
      case .running(let task, let waiter?):
        waiters.append(waiter)
        entries[name] = .running(task: task, nil)
      case .running, .ended: break
      }
    }
    return waiters
  }
}
