import Synchronization

/// A lock that may be held across suspension points: one task at a time, first come, first served.
///
/// A ``RefreshableCredentialSource`` uses one to refresh exclusively. Unlike a `Mutex` it may be held while a server is
/// asked. It is not reentrant: a task that locks it twice deadlocks.
public final class Turns: Sendable {
  private struct Shared {
    var state = AsyncMutexState()
    var waiters = WaiterTable<AsyncMutexState.Ticket, Void>()
  }

  private let shared = Mutex(Shared())

  /// Makes an unlocked mutex.
  public init() {}

  /// Does work while no other task holds the mutex. The mutex is unlocked however the work ends.
  ///
  /// - Returns: what `work` returns.
  /// - Throws: what `work` throws; `CancellationError` when the task is cancelled while it waits. An unlocked mutex is
  ///   given to a cancelled task as well: the work decides what cancellation means.
  public func exclusively<Value>(_ work: () async throws -> Value) async throws -> Value {
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

/// The holder of an ``Turns`` mutex and the queue behind it. A pure state machine.
struct AsyncMutexState: Hashable {
  typealias Ticket = UInt64

  /// The position of a ticket.
  enum Position: Hashable {
    case holds
    case waits
    /// It was cancelled or has left.
    case gone
  }

  private(set) var holder: Ticket?
  /// In order of arrival.
  private(set) var queue: [Ticket] = []
  private var nextTicket: Ticket = 0

  func position(of ticket: Ticket) -> Position {
    if holder == ticket { return .holds }
    return queue.contains(ticket) ? .waits : .gone
  }

  /// Adds a task: it becomes the holder where there is none, and is queued otherwise.
  mutating func enter() -> Ticket {
    let ticket = nextTicket
    nextTicket += 1
    if holder == nil { holder = ticket } else { queue.append(ticket) }
    return ticket
  }

  /// Ends the holder's turn. Returns the next holder; `nil` when nobody waits or the ticket does not hold the mutex.
  mutating func leave(_ ticket: Ticket) -> Ticket? {
    guard holder == ticket else { return nil }
    holder = queue.isEmpty ? nil : queue.removeFirst()
    return holder
  }

  /// Removes a ticket from the queue. Returns whether it waited: a holder stays the holder until it leaves.
  mutating func cancel(_ ticket: Ticket) -> Bool {
    guard let index = queue.firstIndex(of: ticket) else { return false }
    queue.remove(at: index)
    return true
  }
}
