public import ApusCore

/// Which of the calls that wait go first, see ``SchedulingLimits/ageing``.
///
/// A call that sets none has that of the task that makes it (``init(_:)``).
public enum CallPriority: Int, Sendable, Hashable, CaseIterable, Comparable {
  /// Nobody waits for it: a prefetch, statistics.
  case background
  /// It may come later: an image below the fold.
  case low
  /// Everything else.
  case normal
  /// Somebody looks at the place where it will be shown.
  case high
  /// Somebody can do nothing else before it is there. No task's priority makes a call that urgent.
  case immediate

  /// The priority of calls that a task makes: `background`, `low` for utility work, `normal` for the middle one and
  /// `high` for whatever a person has asked for.
  public init(_ priority: TaskPriority) {
    switch priority.rawValue {
    case ...TaskPriority.background.rawValue: self = .background
    case ...TaskPriority.utility.rawValue: self = .low
    case ...TaskPriority.medium.rawValue: self = .normal
    default: self = .high
    }
  }

  /// Whether `lhs` goes after `rhs`.
  public static func < (lhs: CallPriority, rhs: CallPriority) -> Bool { lhs.rawValue < rhs.rawValue }

  /// How many steps it is below the most urgent.
  var steps: Int { CallPriority.immediate.rawValue - rawValue }
}

enum CallPriorityKey: ContextKey {
  /// That of the task.
  static let defaultValue: CallPriority? = nil
}

extension Endpoint {
  /// Says how urgent calls of this endpoint are when they have to wait for their turn. Default: as urgent as the task
  /// that makes them.
  public func priority(_ priority: CallPriority) -> Request<Value> {
    setting(CallPriorityKey.self, priority)
  }
}
