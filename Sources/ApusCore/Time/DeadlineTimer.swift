import Synchronization

/// A timer for any number of deadlines that uses a single sleeping task.
///
/// A call that ends in time costs an insertion and a removal. The task exists only while a deadline is pending, and
/// is restarted only when a deadline is added that is earlier than all pending deadlines.
final class DeadlineTimer: Sendable {
  typealias Key = DeadlineHeap<any DeadlineTarget>.Key

  private struct State {
    var heap = DeadlineHeap<any DeadlineTarget>()
    var sleepingUntil: MonotonicInstant?
    var sleeper: Task<Void, Never>?
    /// The number of sleepers so far, so that a replaced sleeper does nothing when it wakes.
    var generation: UInt64 = 0
  }

  private let state = Mutex(State())
  private let clock: any MonotonicClock
  private let spawner: TaskSpawner

  init(clock: any MonotonicClock, spawner: TaskSpawner) {
    self.clock = clock
    self.spawner = spawner
  }

  /// Schedules the notification of `target` at `instant`, and retains the target until then. Returns the key with which
  /// to cancel the deadline.
  func schedule(_ target: any DeadlineTarget, at instant: MonotonicInstant) -> Key {
    state.withLock { state in
      let key = state.heap.insert(target, at: instant)
      if state.sleepingUntil.map({ instant < $0 }) ?? true { startSleeper(until: instant, &state) }
      return key
    }
  }

  /// Cancels a deadline. Does nothing if it has already passed.
  func cancel(_ key: Key) {
    // Moved out of the lock, so that the target is not released inside it.
    let removed = state.withLock { $0.heap.remove(key) }
    withExtendedLifetime(removed) {}
  }

  private func startSleeper(until instant: MonotonicInstant, _ state: inout State) {
    state.sleeper?.cancel()
    state.generation += 1
    let generation = state.generation
    state.sleepingUntil = instant
    let clock = clock
    // The sleeper references the timer weakly, so that the timer ends with its client.
    state.sleeper = spawner.spawnDetached { [weak self] in
      do { try await clock.sleepUntilLimit(instant) } catch { return }
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

/// An object that is notified when a deadline passes, see ``ExchangeContext/alarm(for:)``.
public protocol DeadlineTarget: AnyObject, Sendable {
  /// Called when the deadline passes, on any thread and outside of all locks. Must return quickly.
  func deadlinePassed()
}

/// A pending notification, see ``ExchangeContext/alarm(for:)``.
public struct DeadlineAlarm: Sendable {
  private let timer: DeadlineTimer
  private let key: DeadlineTimer.Key

  init(_ timer: DeadlineTimer, _ key: DeadlineTimer.Key) {
    (self.timer, self.key) = (timer, key)
  }

  /// Cancels the notification and releases the target. Does nothing after the deadline has passed.
  ///
  /// A notification that is being delivered at this moment may still arrive.
  public func cancel() {
    timer.cancel(key)
  }
}

/// A priority queue of deadlines with removable entries. A pure data structure without clock and tasks.
///
/// Most deadlines are added in order and removed before they pass, so adding is usually one append, and removing is one
/// swap. Keys are indices of reused cells, so that nothing is hashed and a steady load allocates nothing.
struct DeadlineHeap<Element> {
  /// The handle of an entry. After the entry is removed, the handle finds no entry.
  struct Key: Hashable, Sendable {
    fileprivate let cell: Int
    fileprivate let generation: UInt32
  }

  private struct Cell {
    var element: Element?
    /// The number of past uses, so that an old key never finds a new entry.
    var generation: UInt32
  }

  /// The cells in use, ordered by their deadlines.
  private var order = IndexedHeap<MonotonicInstant>()
  private var cells: [Cell] = []
  private var freeCells: [Int] = []

  var count: Int { order.count }
  var earliest: MonotonicInstant? { order.first?.rank }

  mutating func insert(_ element: Element, at instant: MonotonicInstant) -> Key {
    let cell = freeCells.popLast() ?? cells.count
    if cell == cells.count { cells.append(Cell(element: nil, generation: 0)) }
    cells[cell].element = element
    order.set(cell, to: instant)
    return Key(cell: cell, generation: cells[cell].generation)
  }

  /// Removes and returns the entry with `key`, if it still exists.
  @discardableResult
  mutating func remove(_ key: Key) -> Element? {
    guard cells[key.cell].generation == key.generation else { return nil }
    return remove(cell: key.cell)
  }

  /// Removes and returns the entries at or before `now`, earliest first.
  mutating func removeExpired(at now: MonotonicInstant) -> [Element] {
    var expired: [Element] = []
    while let first = order.first, first.rank <= now, let element = remove(cell: first.id) { expired.append(element) }
    return expired
  }

  private mutating func remove(cell: Int) -> Element? {
    guard let element = cells[cell].element.take() else { return nil }
    cells[cell].generation &+= 1
    freeCells.append(cell)
    order.remove(cell)
    return element
  }
}
