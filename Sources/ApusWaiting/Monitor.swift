import Synchronization

/// An asynchronous monitor: state behind a lock, and tasks that wait for a condition on that state.
///
/// Waiters are resumed outside of the lock.
package final class Monitor<State: Sendable>: Sendable {
  private struct Waiter: Sendable {
    let id: UInt64
    /// Returns a closure that resumes the waiter if the state satisfies its condition, otherwise `nil`. May change
    /// the state if the condition is satisfied.
    let attempt: @Sendable (_ state: inout State, _ version: UInt64) -> (@Sendable () -> Void)?
    let cancel: @Sendable () -> Void
  }

  private struct Inner: Sendable {
    var state: State
    /// The number of updates.
    var version: UInt64 = 0
    /// The waiters, in order of arrival.
    var waiters: [Waiter] = []
    var lastID: UInt64 = 0

    /// Removes every waiter whose condition the state satisfies. Returns the closures that resume them.
    mutating func takeSatisfied() -> [@Sendable () -> Void] {
      var resumptions: [@Sendable () -> Void] = []
      var found = true
      while found {
        found = false
        for (index, waiter) in waiters.enumerated() {
          guard let resume = waiter.attempt(&state, version) else { continue }
          waiters.remove(at: index)
          resumptions.append(resume)
          // A satisfied waiter may have changed the state, so the search starts over with the oldest waiter.
          found = true
          break
        }
      }
      return resumptions
    }
  }

  private let inner: Mutex<Inner>

  package init(_ state: State) {
    inner = Mutex(Inner(state: state))
  }

  /// A copy of the current state.
  package var state: State { inner.withLock { $0.state } }

  /// Reads from the state without copying it.
  package func read<Result: Sendable>(_ body: (State) -> Result) -> Result {
    inner.withLock { body($0.state) }
  }

  /// Changes the state and resumes the waiters that the new state satisfies, oldest first.
  @discardableResult
  package func update<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
    let (result, resumptions) = inner.withLock { inner -> (Result, [@Sendable () -> Void]) in
      let result = change(&inner.state)
      inner.version += 1
      return (result, inner.takeSatisfied())
    }
    for resume in resumptions { resume() }
    return result
  }

  /// Waits until `attempt` returns a value. `attempt` runs under the lock, immediately and after every update. If it
  /// succeeds, it may change the state, for example to remove the value that the task waited for.
  ///
  /// - Throws: `CancellationError` when the task is cancelled first.
  package func first<Result: Sendable>(
    _ attempt: @escaping @Sendable (inout State) -> Result?
  ) async throws -> Result {
    try await wait { state, _ in attempt(&state) }
  }

  /// Waits until `find` returns a value for a copy of the state. `find` runs in the calling task, outside the lock,
  /// and may therefore use the owner of this monitor.
  ///
  /// - Throws: any error that `find` throws; `CancellationError` when the task is cancelled first.
  package func value<Found>(where find: (State) throws -> Found?) async throws -> Found {
    while true {
      let (state, version) = inner.withLock { ($0.state, $0.version) }
      if let found = try find(state) { return found }
      try await wait { _, current in current == version ? nil : () }
    }
  }

  private func wait<Result: Sendable>(
    _ attempt: @escaping @Sendable (inout State, UInt64) -> Result?
  ) async throws -> Result {
    let id = inner.withLock { inner in
      inner.lastID += 1
      return inner.lastID
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
        let waiter = Waiter(
          id: id,
          attempt: { state, version in
            guard let result = attempt(&state, version) else { return nil }
            return { continuation.resume(returning: result) }
          }, cancel: { continuation.resume(throwing: CancellationError()) })
        for resume in add(waiter) { resume() }
      }
    } onCancel: {
      let waiter = inner.withLock { inner in
        inner.waiters.firstIndex { $0.id == id }.map { inner.waiters.remove(at: $0) }
      }
      waiter?.cancel()
    }
  }

  private func add(_ waiter: Waiter) -> [@Sendable () -> Void] {
    inner.withLock { inner in
      // Checked under the lock: an earlier cancellation is detected here, a later cancellation finds the waiter.
      if Task.isCancelled { return [waiter.cancel] }
      inner.waiters.append(waiter)
      return inner.takeSatisfied()
    }
  }
}
