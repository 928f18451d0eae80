import ApusCore

/// The tasks that wait for an outcome, by key. A pure value: its owner stores it under a lock together with the state
/// machine that decides, and resumes continuations after releasing the lock.
///
/// A decision and the suspension of its task race: the outcome may arrive before the task has suspended, and the task
/// may be cancelled at any time. A key is therefore registered when its task is queued (``register(_:)``). An early
/// outcome is stored, and the key is removed once the outcome was delivered or the wait was cancelled.
package struct WaiterTable<Key: Hashable & Sendable, Outcome: Sendable>: Sendable {
  package typealias Continuation = CheckedContinuation<Outcome, any Error>

  /// A suspended task and its outcome.
  package struct Resumption: Sendable {
    fileprivate let continuation: Continuation
    fileprivate let outcome: Outcome

    package func resume() { continuation.resume(returning: outcome) }
  }

  /// The state of a wait when it was cancelled.
  package enum Cancelled: Sendable {
    /// The task was suspended. The caller must resume it with an error.
    case suspended(Continuation)
    /// The task had not suspended yet. When it suspends, it receives a `CancellationError`.
    case registered
    /// The outcome had arrived, but was not delivered yet.
    case resolved(Outcome)
  }

  private enum Entry {
    case registered
    case suspended(Continuation)
    case resolved(Outcome)
  }

  private var entries: [Key: Entry] = [:]

  package init() {}

  package var isEmpty: Bool { entries.isEmpty }

  /// Whether the task of a key still waits for its outcome.
  package func isPending(_ key: Key) -> Bool {
    switch entries[key] {
    case .registered, .suspended: true
    case .resolved, nil: false
    }
  }

  /// Adds a task that is going to wait.
  package mutating func register(_ key: Key) {
    entries[key] = .registered
  }

  /// Suspends a task.
  ///
  /// - Returns: `nil` if the continuation was stored; otherwise the result with which to resume it immediately: the
  ///   early outcome, or a `CancellationError` for an unknown key.
  package mutating func suspend(_ key: Key, _ continuation: Continuation) -> Result<Outcome, any Error>? {
    switch entries[key] {
    case .registered:
      entries[key] = .suspended(continuation)
      return nil
    case .resolved(let outcome):
      entries[key] = nil
      return .success(outcome)
    case .suspended, nil: return .failure(CancellationError())
    }
  }

  /// Sets the outcome of a task. A later outcome replaces an undelivered outcome. An unknown key is ignored.
  ///
  /// - Returns: the task to resume; `nil` when it has not suspended yet.
  package mutating func resolve(_ key: Key, with outcome: Outcome) -> Resumption? {
    switch entries[key] {
    case .suspended(let continuation):
      entries[key] = nil
      return Resumption(continuation: continuation, outcome: outcome)
    case .registered, .resolved:
      entries[key] = .resolved(outcome)
      return nil
    case nil: return nil
    }
  }

  /// Removes a task that no longer waits. Returns `nil` if its key is unknown.
  package mutating func cancel(_ key: Key) -> Cancelled? {
    switch entries.removeValue(forKey: key) {
    case .registered: .registered
    case .suspended(let continuation): .suspended(continuation)
    case .resolved(let outcome): .resolved(outcome)
    case nil: nil
    }
  }
}

/// Suspends the current task until its key in a ``WaiterTable`` has an outcome.
///
/// - Parameters:
///   - suspend: passes the continuation to ``WaiterTable/suspend(_:_:)`` under the owner's lock.
///   - onCancel: called when the task is cancelled, before or while it is suspended.
/// - Throws: `CancellationError`, or the error with which `onCancel` resumes the continuation.
package func withWaiter<Outcome: Sendable>(
  _ suspend: (CheckedContinuation<Outcome, any Error>) -> Result<Outcome, any Error>?,
  onCancel: @Sendable () -> Void
) async throws -> Outcome {
  try await withTaskCancellationHandler {
    try await withCheckedThrowingContinuation { continuation in
      if let result = suspend(continuation) { continuation.resume(with: result) }
    }
  } onCancel: {
    onCancel()
  }
}

/// A deadline target that ends a call's wait when its attempt's deadline passes.
package final class WaitLimit: DeadlineTarget {
  private let giveUp: @Sendable () -> Void

  /// - Parameter giveUp: ends the wait.
  package init(_ giveUp: @escaping @Sendable () -> Void) {
    self.giveUp = giveUp
  }

  /// Ends the wait.
  package func deadlinePassed() {
    giveUp()
  }
}
