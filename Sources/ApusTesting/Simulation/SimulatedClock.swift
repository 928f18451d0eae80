package import ApusCore
import Synchronization

/// The clock of a simulation. When no job can run, it jumps to the next planned instant.
package final class SimulatedClock: MonotonicClock {
  private typealias Sleeper = CheckedContinuation<Void, any Error>

  private enum Item: Sendable {
    case sleeper(CheckedContinuation<Void, any Error>)
    case action(@Sendable () -> Void)
  }

  private enum Admission {
    case sleeps
    case passed
    case cancelled
  }

  private struct State {
    var agenda = Agenda<Item>()
    var isClosed = false
  }

  private let state = Mutex(State())

  init() {}

  /// The current instant; a simulation starts at zero.
  package var now: MonotonicInstant { state.withLock { $0.agenda.now } }

  /// Sleeps until the simulation reaches `instant`. Returns immediately if the instant has passed.
  ///
  /// - Throws: `CancellationError` if the task is cancelled, and once the simulation is over.
  package func sleep(until instant: MonotonicInstant) async throws {
    // Yields, so that work that ignores the end of its simulation does not block other tasks.
    if state.withLock({ $0.isClosed }) { await Task.yield() }
    let number = state.withLock { $0.agenda.newNumber() }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (sleeper: Sleeper) in
        switch admit(sleeper, until: instant, number) {
        case .sleeps: break
        case .passed: sleeper.resume()
        case .cancelled: sleeper.resume(throwing: CancellationError())
        }
      }
    } onCancel: {
      if case .sleeper(let sleeper) = state.withLock({ $0.agenda.cancel(number) }) {
        sleeper.resume(throwing: CancellationError())
      }
    }
  }

  private func admit(_ sleeper: Sleeper, until instant: MonotonicInstant, _ number: UInt64) -> Admission {
    state.withLock { state in
      // Checked under the lock: an earlier cancellation is detected here, a later cancellation finds the sleeper.
      if Task.isCancelled || state.isClosed { return .cancelled }
      guard instant > state.agenda.now else { return .passed }
      state.agenda.plan(.sleeper(sleeper), at: instant, number: number)
      return .sleeps
    }
  }

  /// Schedules `action` for an instant. The action runs between two jobs, unless the simulation ends first.
  func plan(at instant: MonotonicInstant, _ action: @escaping @Sendable () -> Void) {
    state.withLock { state in
      guard !state.isClosed else { return }
      let number = state.agenda.newNumber()
      state.agenda.plan(.action(action), at: instant, number: number)
    }
  }

  /// Schedules `action` after a time.
  func plan(after time: Duration, _ action: @escaping @Sendable () -> Void) {
    plan(at: now.advanced(by: time), action)
  }

  /// The next planned instant, or `nil` if nothing is planned.
  var nextInstant: MonotonicInstant? { state.withLock { $0.agenda.nextInstant() } }

  /// Advances to the next planned instant and runs the item planned for it.
  func runNext() {
    switch state.withLock({ $0.agenda.next() }) {
    case nil: break
    case .sleeper(let sleeper): sleeper.resume()
    case .action(let action): action()
    }
  }

  /// Cancels all sleepers and discards all planned actions.
  func close() {
    let items = state.withLock { state in
      state.isClosed = true
      return state.agenda.removeAll()
    }
    for case .sleeper(let sleeper) in items { sleeper.resume(throwing: CancellationError()) }
  }
}

/// The planned items of a simulation, ordered by instant, then by the order of planning. A pure state machine.
///
/// Consists of a heap of instants and a dictionary of items. The heap entry of a cancelled item remains and is skipped
/// later, so that cancelling needs no search.
struct Agenda<Item: Sendable>: Sendable {
  private struct Entry: Sendable {
    let instant: MonotonicInstant
    let number: UInt64

    func isBefore(_ other: Entry) -> Bool {
      instant == other.instant ? number < other.number : instant < other.instant
    }
  }

  private(set) var now = MonotonicInstant(sinceStart: .zero)
  private var heap: [Entry] = []
  private var items: [UInt64: Item] = [:]
  private var lastNumber: UInt64 = 0

  /// The number of items.
  var count: Int { items.count }

  /// Returns the number for an item that will be planned.
  mutating func newNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// Adds an item. An item for a past instant is the next item, at the current time.
  mutating func plan(_ item: Item, at instant: MonotonicInstant, number: UInt64) {
    items[number] = item
    heap.append(Entry(instant: max(instant, now), number: number))
    siftUp(from: heap.count - 1)
  }

  /// Removes an item and returns it, or `nil` if it is not planned.
  mutating func cancel(_ number: UInt64) -> Item? {
    items.removeValue(forKey: number)
  }

  /// Returns the instant of the next item, or `nil` if no item is planned.
  mutating func nextInstant() -> MonotonicInstant? {
    while let first = heap.first, items[first.number] == nil { removeFirst() }
    return heap.first?.instant
  }

  /// Advances the time to the next item and returns the item, or `nil` if no item is planned.
  mutating func next() -> Item? {
    guard let instant = nextInstant(), let first = heap.first else { return nil }
    now = instant
    removeFirst()
    return items.removeValue(forKey: first.number)
  }

  /// Removes all items and returns them in the order of planning.
  mutating func removeAll() -> [Item] {
    let all = items.sorted { $0.key < $1.key }.map { $0.value }
    items = [:]
    heap = []
    return all
  }

  private mutating func removeFirst() {
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    siftDown()
  }

  private mutating func siftUp(from start: Int) {
    var child = start
    while child > 0 {
      let parent = (child - 1) / 2
      guard heap[child].isBefore(heap[parent]) else { return }
      heap.swapAt(child, parent)
      child = parent
    }
  }

  private mutating func siftDown() {
    var parent = 0
    while true {
      var earliest = parent
      for child in 2 * parent + 1...2 * parent + 2 where child < heap.count {
        if heap[child].isBefore(heap[earliest]) { earliest = child }
      }
      guard earliest != parent else { return }
      heap.swapAt(parent, earliest)
      parent = earliest
    }
  }
}
