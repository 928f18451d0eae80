import Foundation
import Synchronization

/// Every exchange of a backend, oldest first.
///
/// A row appears as soon as the request's head is there and is completed as the exchange goes on. Requests for the log
/// itself are not in it.
public final class ExchangeLog: Sendable {
  private struct State {
    var rows: [LoggedExchange] = []
    var lastSequence = 0
    /// The sequence numbers of those whose answers have not begun.
    var atWork: Set<Int> = []
    var watchers: [UUID: AsyncStream<Void>.Continuation] = [:]
  }

  private let capacity: Int
  private let state = Mutex(State())

  /// - Parameter capacity: How many rows are kept; the oldest give way.
  init(capacity: Int) {
    self.capacity = max(1, capacity)
  }

  /// What the log holds now, exchanges in progress included.
  public var rows: [LoggedExchange] { state.withLock { $0.rows } }

  /// The rows that a condition holds for.
  public func rows(where condition: (LoggedExchange) -> Bool) -> [LoggedExchange] {
    rows.filter(condition)
  }

  /// Forgets every row; sequence numbers go on.
  public func clear() {
    state.withLock { $0.rows.removeAll() }
  }

  /// Waits until a condition holds for a number of rows.
  ///
  /// A client may have its answer before the server has completed the row: this waits for the row instead of guessing
  /// how long that takes.
  ///
  /// - Parameters:
  ///   - count: How many rows there must be.
  ///   - limit: How long to wait at most.
  ///   - condition: Asked again whenever a row changes.
  /// - Returns: The rows that the condition holds for; fewer than `count` when the time was over or the task was
  ///   cancelled.
  public func rows(
    atLeast count: Int, within limit: Duration = .seconds(10), where condition: (LoggedExchange) -> Bool
  ) async -> [LoggedExchange] {
    let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let key = UUID()
    // Watched before the first look, so that no change falls in between.
    state.withLock { $0.watchers[key] = continuation }
    let alarm = Task {
      // Cancelled when the rows came in time; either way there is nothing left to wait for.
      try? await Task.sleep(for: limit)
      continuation.finish()
    }
    defer {
      alarm.cancel()
      _ = state.withLock { $0.watchers.removeValue(forKey: key) }
    }
    var found = rows(where: condition)
    var iterator = changes.makeAsyncIterator()
    while found.count < count, await iterator.next() != nil {
      found = rows(where: condition)
    }
    return found
  }

  /// The first row, present or to come, that a condition holds for; see ``rows(atLeast:within:where:)``.
  public func first(
    within limit: Duration = .seconds(10), where condition: (LoggedExchange) -> Bool
  ) async -> LoggedExchange? {
    await rows(atLeast: 1, within: limit, where: condition).first
  }

  /// Adds a row, made with the next sequence number and how many requests are at work with it.
  func append(_ make: (_ sequence: Int, _ atWork: Int) -> LoggedExchange) -> Int {
    state.withLock { state in
      state.lastSequence += 1
      state.atWork.insert(state.lastSequence)
      state.rows.append(make(state.lastSequence, state.atWork.count))
      if state.rows.count > capacity { state.rows.removeFirst(state.rows.count - capacity) }
      for watcher in state.watchers.values { watcher.yield() }
      return state.lastSequence
    }
  }

  /// The work on a request is done, or given up: noted before its answer begins, so that a client that sends the next
  /// request because it has this answer is never seen to have two at once.
  func workEnded(_ sequence: Int) {
    state.withLock { _ = $0.atWork.remove(sequence) }
  }

  /// Changes a row, unless it was forgotten meanwhile.
  func update(_ sequence: Int, _ change: (inout LoggedExchange) -> Void) {
    state.withLock { state in
      // The row is near the end; sequence numbers rise.
      guard let index = state.rows.lastIndex(where: { $0.sequence == sequence }) else { return }
      change(&state.rows[index])
      for watcher in state.watchers.values { watcher.yield() }
    }
  }
}
