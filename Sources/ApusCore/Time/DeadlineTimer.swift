import Synchronization

/// Tells targets when their instants have come, with one sleeping task however many deadlines are set.
///
/// A call that ends in time costs an insertion and a removal. The task exists only while a deadline is
/// pending; it is started anew only when an earlier instant than the one it sleeps for is added.
final class DeadlineTimer: Sendable {
  typealias Key = DeadlineHeap<any DeadlineTarget>.Key

  private struct State {
    var heap = DeadlineHeap<any DeadlineTarget>()
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

  /// Has `target` told once `instant` is reached; the key takes it back. Holds the target until then.
  func schedule(_ target: any DeadlineTarget, at instant: MonotonicInstant) -> Key {
    state.withLock { state in
      let key = state.heap.insert(target, at: instant)
      if state.sleepingUntil.map({ instant < $0 }) ?? true { startSleeper(until: instant, &state) }
      return key
    }
  }

  /// Takes a deadline back; does nothing when it has passed already.
  func cancel(_ key: Key) {
    // Handed out of the lock, so that the target is not released inside it.
    let removed = state.withLock { $0.heap.remove(key) }
    withExtendedLifetime(removed) {}
  }

  private func startSleeper(until instant: MonotonicInstant, _ state: inout State) {
    state.sleeper?.cancel()
    state.generation += 1
    let generation = state.generation
    state.sleepingUntil = instant
    let clock = clock
    // Not held by its own sleeper: a client that goes away ends its timer with it.
    state.sleeper = spawner.spawnDetached { [weak self] in
      do { try await clock.sleep(until: instant) } catch { return }
      self?.wake(generation: generation)
    }
  }

  private func wake(generation: UInt64) {
    let now = clock.now
    let expired: [any DeadlineTarget] = state.withLock { state in
      guard state.generation == generation else { return [] }
      state.sleepingUntil = nil
      state.sleeper = nil
      let expired = state.heap.removeExpired(at: now)
      if let next = state.heap.earliest { startSleeper(until: next, &state) }
      return expired
    }
    for target in expired { target.deadlinePassed() }
  }

  deinit {
    state.withLock { $0.sleeper?.cancel() }
  }
}

/// Something that is told when an instant has come, see ``CallContext/alarm(for:)``.
public protocol DeadlineTarget: AnyObject, Sendable {
  /// The instant has come. Called from any thread, outside of every lock: be quick.
  func deadlinePassed()
}

/// An alarm that was set, see ``CallContext/alarm(for:)``.
public struct DeadlineAlarm: Sendable {
  private let timer: DeadlineTimer
  private let key: DeadlineTimer.Key

  init(_ timer: DeadlineTimer, _ key: DeadlineTimer.Key) {
    (self.timer, self.key) = (timer, key)
  }

  /// Takes the alarm back, and lets its target go; does nothing once it has rung. One that is ringing at this moment
  /// may still be heard.
  public func cancel() {
    timer.cancel(key)
  }
}
