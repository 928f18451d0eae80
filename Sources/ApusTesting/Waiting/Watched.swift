import Synchronization

/// State that tasks wait on: each change tries the waiters again, in the order in which they came.
///
/// Waiters are resumed outside of the lock.
final class Watched<State: Sendable>: Sendable {
  private struct Waiter: Sendable {
    let id: UInt64
    /// Answers how to resume the waiter once the state is what it waits for; may change the state then.
    let attempt: @Sendable (inout State) -> (@Sendable () -> Void)?
    let cancel: @Sendable () -> Void
  }

  private struct Inner: Sendable {
    var state: State
    var waiters: [Waiter] = []
    var nextID: UInt64 = 0

    /// Tries all waiters until none of them can go on. Answers how to resume those that can.
    mutating func settle() -> [@Sendable () -> Void] {
      var resumptions: [@Sendable () -> Void] = []
      var found = true
      while found {
        found = false
        for (index, waiter) in waiters.enumerated() {
          guard let resume = waiter.attempt(&state) else { continue }
          waiters.remove(at: index)
          resumptions.append(resume)
          found = true
          break
        }
      }
      return resumptions
    }
  }

  private let inner: Mutex<Inner>

  init(_ state: State) {
    inner = Mutex(Inner(state: state))
  }

  /// The state now.
  var state: State { inner.withLock { $0.state } }

  /// Looks at the state without a copy of it.
  func read<Result: Sendable>(_ look: (State) -> Result) -> Result {
    inner.withLock { look($0.state) }
  }

  /// Changes the state and wakes those who waited for it.
  @discardableResult
  func update<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
    let (result, resumptions) = inner.withLock { inner -> (Result, [@Sendable () -> Void]) in
      let result = change(&inner.state)
      return (result, inner.settle())
    }
    for resume in resumptions { resume() }
    return result
  }

  /// Waits until `attempt` gives something, which it may take out of the state.
  ///
  /// - Throws: `CancellationError` when the waiting task is cancelled first.
  func first<Result: Sendable>(_ attempt: @escaping @Sendable (inout State) -> Result?) async throws -> Result {
    let id = inner.withLock { inner in
      inner.nextID += 1
      return inner.nextID
    }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
        let waiter = Waiter(
          id: id,
          attempt: { state in
            guard let result = attempt(&state) else { return nil }
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
      // Asked under the lock: a cancellation before is seen here, a later one finds the waiter.
      if Task.isCancelled { return [waiter.cancel] }
      inner.waiters.append(waiter)
      return inner.settle()
    }
  }
}
