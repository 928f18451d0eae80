#if NIO
  import Synchronization

  /// Something that happens once, and can be waited for.
  final class Latch: Sendable {
    private struct State {
      var isOpen = false
      var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
      var nextWaiter = 0
    }

    private let state = Mutex(State())

    /// It has happened.
    func open() {
      let waiters = state.withLock { state in
        state.isOpen = true
        defer { state.waiters = [:] }
        return state.waiters
      }
      for waiter in waiters.values { waiter.resume() }
    }

    /// Returns when it has happened, the time is over or the task is cancelled.
    func wait(atMost limit: Duration) async {
      let number = state.withLock { state in
        state.nextWaiter += 1
        return state.nextWaiter
      }
      let alarm = Task {
        try? await Task.sleep(for: limit)
        self.release(number)
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { waiter in
          let isOver = state.withLock { state in
            // Looked at under the lock: a cancellation before this line is seen here, a later one finds the waiter.
            if state.isOpen || Task.isCancelled { return true }
            state.waiters[number] = waiter
            return false
          }
          if isOver { waiter.resume() }
        }
      } onCancel: {
        release(number)
      }
      alarm.cancel()
    }

    private func release(_ number: Int) {
      state.withLock { $0.waiters.removeValue(forKey: number) }?.resume()
    }
  }
#endif
