#if NIO
  import Synchronization

  /// A gate that a reply waits at until a test opens it.
  ///
  /// Delays are made of gates, so that a test decides when time goes on and never sleeps. A closed gate lets
  /// ``release(_:)`` pass single waiters, in the order they came. Shutting the server down or cancelling the waiting
  /// task frees a waiter too.
  ///
  /// ```swift
  /// let gate = Gate()
  /// let server = try await TestServer.start { _ in .text("late").waiting(for: gate) }
  /// // … the call is in flight …
  /// gate.open()
  /// ```
  public final class Gate: Sendable {
    private struct State: Sendable {
      var isOpen = false
      /// Passes released while nobody waited.
      var passes = 0
      var waiters: [(id: Int, continuation: CheckedContinuation<Bool, Never>)] = []
      var nextWaiter = 0
    }

    private let state = Mutex(State())
    private let arrived = Watched(0)

    /// A closed gate that nobody has passed.
    public init() {}

    /// Whether everyone may pass.
    public var isOpen: Bool { state.withLock { $0.isOpen } }

    /// How many have come to the gate so far, those who passed included.
    public var arrivals: Int { arrived.state }

    /// Opens the gate for all who wait and all who will come; it cannot be closed again.
    public func open() {
      let waiters = state.withLock { state in
        state.isOpen = true
        let waiters = state.waiters
        state.waiters = []
        return waiters
      }
      for waiter in waiters { waiter.continuation.resume(returning: true) }
    }

    /// Lets `count` pass, first come first served; passes nobody waits for are kept for those who come later.
    public func release(_ count: Int = 1) {
      let waiters = state.withLock { state in
        let released = Array(state.waiters.prefix(count))
        state.waiters.removeFirst(released.count)
        state.passes += count - released.count
        return released
      }
      for waiter in waiters { waiter.continuation.resume(returning: true) }
    }

    /// Waits until the gate is open or a pass is released.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled; no pass is used up then.
    public func wait() async throws {
      let id = state.withLock { state in
        state.nextWaiter += 1
        return state.nextWaiter
      }
      arrived.update { $0 += 1 }
      let passed = await withTaskCancellationHandler {
        await withCheckedContinuation { (continuation: CheckedContinuation<Bool, Never>) in
          if let passed = pass(id, continuation) { continuation.resume(returning: passed) }
        }
      } onCancel: {
        let cancelled = state.withLock { state in
          state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0) }
        }
        cancelled?.continuation.resume(returning: false)
      }
      if !passed { throw CancellationError() }
    }

    /// Waits until at least `count` have come to the gate, those who passed included.
    ///
    /// - Throws: `CancellationError` when the waiting task is cancelled.
    public func waitForArrivals(_ count: Int) async throws {
      try await arrived.first { $0 >= count ? () : nil }
    }

    /// Whether the waiter passes at once, or `nil` when it has been put in the queue.
    private func pass(_ id: Int, _ continuation: CheckedContinuation<Bool, Never>) -> Bool? {
      state.withLock { state in
        // Looked at under the lock: a cancellation before this line is seen here, a later one finds the waiter.
        if Task.isCancelled { return false }
        if state.isOpen { return true }
        if state.passes > 0 {
          state.passes -= 1
          return true
        }
        state.waiters.append((id, continuation))
        return nil
      }
    }
  }
#endif
