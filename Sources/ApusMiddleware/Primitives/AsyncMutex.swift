import Synchronization

/// A mutex that may be held across suspension points, such as a request. Waiting tasks acquire it in order of arrival.
///
/// A ``RefreshableCredentialsStore`` uses a mutex to refresh exclusively. The mutex is not reentrant: a task that locks
/// it twice deadlocks.
package final class AsyncMutex: Sendable {
  private struct Shared {
    var state = AsyncMutexState()
    var waiters = WaiterTable<AsyncMutexState.Ticket, Void>()
  }

  private let shared = Mutex(Shared())

  /// Creates an unlocked mutex.
  package init() {}

  /// Performs work while no other task holds the mutex. The mutex is also unlocked if the work throws.
  ///
  /// - Returns: the result of `work`.
  /// - Throws: the error of `work`; `CancellationError` when the task is cancelled while it waits. A cancelled task can
  ///   still acquire an unlocked mutex: `work` decides how to handle the cancellation.
  package func withLock<Value>(_ work: () async throws -> Value) async throws -> Value {
    let ticket = try await lock()
    defer { unlock(ticket) }
    return try await work()
  }

  private func lock() async throws -> AsyncMutexState.Ticket {
    let (ticket, isFree) = shared.withLock { shared in
      let ticket = shared.state.enter()
      let isFree = shared.state.holder == ticket
      if !isFree { shared.waiters.register(ticket) }
      return (ticket, isFree)
    }
    if isFree { return ticket }
    try await withWaiter { continuation in
      shared.withLock { $0.waiters.suspend(ticket, continuation) }
    } onCancel: {
      cancel(ticket)
    }
    return ticket
  }

  private func cancel(_ ticket: AsyncMutexState.Ticket) {
    let cancelled = shared.withLock { shared in
      shared.state.cancel(ticket) ? shared.waiters.cancel(ticket) : nil
    }
    if case .suspended(let continuation) = cancelled { continuation.resume(throwing: CancellationError()) }
  }

  private func unlock(_ ticket: AsyncMutexState.Ticket) {
    let resumption = shared.withLock { shared in
      shared.state.leave(ticket).flatMap { shared.waiters.resolve($0, with: ()) }
    }
    resumption?.resume()
  }
}

/// The holder of an ``AsyncMutex`` and the queue behind it. A pure state machine.
struct AsyncMutexState: Hashable {
  typealias Ticket = UInt64

  /// The position of a ticket.
  enum Position: Hashable {
    case holds
    case waits
    /// The ticket was cancelled or has left.
    case gone
  }

  private(set) var holder: Ticket?
  /// The queued tickets, in order of arrival.
  private(set) var queue: [Ticket] = []
  private var nextTicket: Ticket = 0

  func position(of ticket: Ticket) -> Position {
    if holder == ticket { return .holds }
    return queue.contains(ticket) ? .waits : .gone
  }

  /// Adds a task, which becomes the holder if there is none, and is queued otherwise.
  mutating func enter() -> Ticket {
    let ticket = nextTicket
    nextTicket += 1
    if holder == nil { holder = ticket } else { queue.append(ticket) }
    return ticket
  }

  /// Unlocks the mutex. Returns the next holder; `nil` if no task waits or the ticket does not hold the mutex.
  mutating func leave(_ ticket: Ticket) -> Ticket? {
    guard holder == ticket else { return nil }
    holder = queue.isEmpty ? nil : queue.removeFirst()
    return holder
  }

  /// Removes a ticket from the queue. Returns whether the ticket was queued; a holder is not affected.
  mutating func cancel(_ ticket: Ticket) -> Bool {
    guard let index = queue.firstIndex(of: ticket) else { return false }
    queue.remove(at: index)
    return true
  }
}
