public import ApusCore

/// The priority of a call. It decides which queued call is admitted first, see ``ConcurrencyLimits/ageing``.
///
/// A call without an explicit priority has that of the task that makes it: `background`, `low` for utility tasks,
/// `normal` for medium ones and `high` for tasks that the user initiated.
public enum CallPriority: Sendable, Hashable, CaseIterable, Comparable {
  /// Nothing waits for the result: a prefetch, statistics.
  case background
  /// The result may come later: an image below the fold.
  case low
  /// The default of most calls.
  case normal
  /// The user looks at the place where the result will be shown.
  case high
  /// The user can do nothing else before the result arrives. No task priority maps to it.
  case immediate

  /// Maps the priority of the task that makes a call.
  package init(_ priority: TaskPriority) {
    switch priority.rawValue {
    case ...TaskPriority.background.rawValue: self = .background
    case ...TaskPriority.utility.rawValue: self = .low
    case ...TaskPriority.medium.rawValue: self = .normal
    default: self = .high
    }
  }

  /// Reads a ``level``; `nil` if no priority has it.
  package init?(level: Int) {
    guard let priority = Self.allCases.first(where: { $0.level == level }) else { return nil }
    self = priority
  }

  /// The number of the priority, 0 for `background`. Stored transfers have it.
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
