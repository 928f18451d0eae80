#if NIO
  import Synchronization

  /// State behind a lock that can be waited on: every wait in the test server is built on this one.
  ///
  /// A waiter looks at the state in its own task, outside the lock, so a test's predicate may ask the server anything.
  final class Watched<State: Sendable>: Sendable {
    private struct Box: Sendable {
      var state: State
      var version = 0
      var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
      var nextWaiter = 0
    }

    private let box: Mutex<Box>

    init(_ state: State) {
      box = Mutex(Box(state: state))
    }

    var state: State { box.withLock { $0.state } }

    /// Reads a part of the state without copying the rest.
    func read<Part: Sendable>(_ part: (State) -> Part) -> Part {
      box.withLock { part($0.state) }
    }

    /// Changes the state and wakes everyone who waits for a change.
    @discardableResult
    func update<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
      let (result, waiters) = box.withLock { box in
        let result = change(&box.state)
        box.version += 1
        let waiters = box.waiters
        box.waiters = [:]
        return (result, waiters)
      }
      for waiter in waiters.values { waiter.resume() }
      return result
    }

    /// The first value `find` makes of the state, which it sees again after every change.
    ///
    /// Throws what `find` throws, and `CancellationError` when the waiting task is cancelled.
    func first<Found>(_ find: (State) throws -> Found?) async throws -> Found {
      while true {
        let (state, version) = box.withLock { ($0.state, $0.version) }
        if let found = try find(state) { return found }
        try Task.checkCancellation()
        await change(since: version)
      }
    }

    /// Returns once the state is newer than `version`, or the task is cancelled.
    private func change(since version: Int) async {
      let waiter = box.withLock { box in
        box.nextWaiter += 1
        return box.nextWaiter
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
          let isOver = box.withLock { box in
            // Looked at under the lock: a cancellation before this line is seen here, a later one finds the waiter.
            if box.version != version || Task.isCancelled { return true }
            box.waiters[waiter] = continuation
            return false
          }
          if isOver { continuation.resume() }
        }
      } onCancel: {
        box.withLock { $0.waiters.removeValue(forKey: waiter) }?.resume()
      }
    }
  }
#endif
