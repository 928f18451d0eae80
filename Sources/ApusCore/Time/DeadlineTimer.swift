import Synchronization

/// Fires actions at instants of a clock, with one sleeping task however many deadlines are set.
///
/// A call that ends in time costs an insertion and a removal. The task exists only while a deadline is
/// pending; it is started anew only when an earlier instant than the one it sleeps for is added.
final class DeadlineTimer: Sendable {
  typealias Action = @Sendable () -> Void

  private struct State {
    var heap = DeadlineHeap<Action>()
    var nextKey: UInt64 = 0
    var sleepingUntil: MonotonicInstant?
    var sleeper: Task<Void, Never>?
    /// Counts the sleepers, so that one that was replaced does nothing when it wakes.
    var generation: UInt64 = 0
  }

  private let state = Mutex(State())
  private let clock: any MonotonicClock
  private let spawner: TaskSpawner

  init(clock: any MonotonicClock, spawner: TaskSpawner) {
    self.clock = clock
    self.spawner = spawner
  }

  /// Has `action` run once `instant` is reached; the key takes it back.
  func schedule(at instant: MonotonicInstant, action: @escaping Action) -> UInt64 {
    state.withLock { state in
      state.nextKey += 1
      let key = state.nextKey
      state.heap.insert(action, at: instant, key: key)
      if state.sleepingUntil.map({ instant < $0 }) ?? true { startSleeper(until: instant, &state) }
      return key
    }
  }

  /// Takes a scheduled action back; does nothing when it has run already.
  func cancel(key: UInt64) {
    // Handed out of the lock, so that what the action holds is not released inside it.
    let removed = state.withLock { $0.heap.remove(key: key) }
    withExtendedLifetime(removed) {}
  }

  private func startSleeper(until instant: MonotonicInstant, _ state: inout State) {
    state.sleeper?.cancel()
    state.generation += 1
    let generation = state.generation
    state.sleepingUntil = instant
    let clock = clock
    // Not held by its own sleeper: a client that goes away ends its timer with it.
    state.sleeper = spawner.spawn { [weak self] in
      do { try await clock.sleep(until: instant) } catch { return }
      self?.wake(generation: generation)
    }
  }

  private func wake(generation: UInt64) {
    let now = clock.now
    let expired: [Action] = state.withLock { state in
      guard state.generation == generation else { return [] }
      state.sleepingUntil = nil
      state.sleeper = nil
      let expired = state.heap.removeExpired(at: now)
      if let next = state.heap.earliest { startSleeper(until: next, &state) }
      return expired
    }
    for action in expired { action() }
  }

  deinit {
    state.withLock { $0.sleeper?.cancel() }
  }
}
