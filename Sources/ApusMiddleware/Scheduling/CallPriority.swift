public import ApusCore

/// The priority of a call, which determines the queued call that is admitted first, see ``ConcurrencyLimits/ageing``.
///
/// A call without an explicit priority has the priority of its caller's task: `background`, `low` for utility tasks,
/// `normal` for medium tasks and `high` for user-initiated tasks.
public enum CallPriority: Sendable, Hashable, CaseIterable, Comparable {
  /// No user or code waits for the result: a prefetch, statistics.
  case background
  /// The result may be delayed: an image below the fold.
  case low
  /// The default of most calls.
  case normal
  /// The result is visible to the user as soon as it arrives.
  case high
  /// The user is blocked until the result arrives. No task priority maps to this priority.
  case immediate

  /// Converts the priority of the caller's task.
  package init(_ priority: TaskPriority) {
    switch priority.rawValue {
    case ...TaskPriority.background.rawValue: self = .background
    case ...TaskPriority.utility.rawValue: self = .low
    case ...TaskPriority.medium.rawValue: self = .normal
    default: self = .high
    }
  }

  /// Creates the priority with a ``level``; `nil` if no priority has this level.
  package init?(level: Int) {
    guard let priority = Self.allCases.first(where: { $0.level == level }) else { return nil }
    self = priority
  }

  /// The number of the priority, 0 for `background`. It is stored in transfer records.
  package var level: Int {
    switch self {
    case .background: 0
    case .low: 1
    case .normal: 2
    case .high: 3
    case .immediate: 4
    }
  }

  /// The number of steps below `immediate`.
  var steps: Int { CallPriority.immediate.level - level }
}

enum CallPriorityKey: ContextKey {
  /// `nil`: the task's priority.
  static let defaultValue: CallPriority? = nil
  /// A shared exchange has the highest priority of its calls.
  static var affectsCoalescing: Bool { false }
}

extension Endpoint {
  /// Sets the priority of calls of this endpoint in the ``Scheduler``'s queue. Default: the priority of the task that
  /// makes the call.
  public func priority(_ priority: CallPriority) -> Request<Value> {
    setting(CallPriorityKey.self, priority)
  }
}
