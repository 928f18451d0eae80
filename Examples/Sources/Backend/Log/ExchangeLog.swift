public import Foundation
import Synchronization

/// The log of a backend's exchanges, oldest first.
///
/// A row is added when the head of the request arrives and is completed as the exchange proceeds. Requests for the log
/// itself are not logged.
public final class ExchangeLog: Sendable {
  private struct State {
    var rows: [LoggedExchange] = []
    var lastSequence = 0
    /// The sequence numbers of requests whose responses have not started.
    var atWork: Set<Int> = []
    var watchers: [UUID: AsyncStream<Void>.Continuation] = [:]
  }

  private let capacity: Int
  private let state = Mutex(State())

  /// - Parameter capacity: the maximum number of rows; the oldest are dropped.
  init(capacity: Int) {
    self.capacity = max(1, capacity)
  }

  /// All rows, including those of exchanges in progress.
  public var rows: [LoggedExchange] { state.withLock { $0.rows } }

  /// Returns the rows that satisfy a condition.
  public func rows(where condition: (LoggedExchange) -> Bool) -> [LoggedExchange] {
    rows.filter(condition)
  }

  /// Removes all rows; sequence numbers continue.
  public func clear() {
    state.withLock { $0.rows.removeAll() }
  }

  /// Waits until a number of rows satisfies a condition.
  ///
  /// A client may receive its response before the server has completed the row, so tests wait for the row.
  ///
  /// - Parameters:
  ///   - count: the number of rows to wait for.
  ///   - limit: the maximum wait. Default: 10 seconds.
  ///   - condition: checked again whenever a row changes.
  /// - Returns: the rows that satisfy the condition; fewer than `count` after the limit, or when the task is cancelled.
  public func rows(
    atLeast count: Int, within limit: Duration = .seconds(10), where condition: (LoggedExchange) -> Bool
  ) async -> [LoggedExchange] {
    let (changes, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let key = UUID()
    // The watcher is added before the first evaluation, so that no change is missed in between.
    state.withLock { $0.watchers[key] = continuation }
    let alarm = Task {
      // The sleep ends at the limit, or when it is cancelled because the rows have arrived. In both cases the wait is
      // over.
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

  /// Waits for a row that satisfies a condition; see ``rows(atLeast:within:where:)``.
  public func first(
    within limit: Duration = .seconds(10), where condition: (LoggedExchange) -> Bool
  ) async -> LoggedExchange? {
    await rows(atLeast: 1, within: limit, where: condition).first
  }

  /// Adds a row, created with the next sequence number and the number of requests at work.
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

  /// Records that the work on a request is done or cancelled. Called before the response starts, so that a client's
  /// consecutive requests are never counted as concurrent.
  func workEnded(_ sequence: Int) {
    state.withLock { _ = $0.atWork.remove(sequence) }
  }

  /// Changes a row, unless it was removed in the meantime.
  func update(_ sequence: Int, _ change: (inout LoggedExchange) -> Void) {
    state.withLock { state in
      // The search starts at the end, where the row is likely to be.
      guard let index = state.rows.lastIndex(where: { $0.sequence == sequence }) else { return }
      change(&state.rows[index])
      for watcher in state.watchers.values { watcher.yield() }
    }
  }
}

/// A request and its response, as recorded by the server.
///
/// Contains no tokens, passwords or API keys: credentials are logged as the start of their hash, secret query
/// parameters as `[redacted]`.
public struct LoggedExchange: Codable, Equatable, Sendable, Identifiable {
  /// The number of the exchange, from 1; ``ExchangeLog/clear()`` does not reset it.
  public let sequence: Int
  /// The number of the connection, from 1.
  public let connection: Int
  /// The time at which the request arrived.
  public let time: Date
  /// The request's method.
  public let method: String
  /// The path without the query.
  public let path: String
  /// The query without its question mark; `nil` when there is none.
  public let query: String?
  /// The request's `User-Agent`.
  public let userAgent: String?
  /// The request's `Content-Length`.
  public let requestContentLength: Int?
  /// The kind of credential and the start of its SHA-256, for example `bearer:1f2e3d4c5b6a`; see
  /// ``Backend/fingerprint(of:)``.
  public let credential: String?
  /// The start of the SHA-256 of the request's `Idempotency-Key`.
  public let idempotencyKey: String?
  /// The request's `Range`.
  public let range: String?
  /// The request's `Last-Event-ID`.
  public let lastEvent: String?
  /// The names of the request's fields (headers), in lower case and sorted.
  public let fieldNames: [String]
  /// The number of requests in progress when this request arrived, itself included. A request is in progress until its
  /// response starts.
  public let atWork: Int
  /// The account of the credential; `nil` without a valid credential.
  public internal(set) var account: Int64?
  /// The status of the response; `nil` until the response starts.
  public internal(set) var status: Int?
  /// The length of the response's content in bytes; `nil` when unknown in advance.
  public internal(set) var responseContentLength: Int?
  /// Whether the client closed the connection before the end of the response.
  public internal(set) var clientLeft = false
  /// The time from the head of the request to the end of the response, in milliseconds; `nil` while in progress.
  public internal(set) var durationMilliseconds: Double?

  /// Decodes the response to `GET /__log`.
  ///
  /// - Throws: `DecodingError`
  public static func rows(from content: Data) throws -> [LoggedExchange] {
    struct Listing: Decodable {
      let items: [LoggedExchange]
    }
    let decoder = JSONDecoder()
    decoder.keyDecodingStrategy = .convertFromSnakeCase
    decoder.dateDecodingStrategy = .iso8601
    return try decoder.decode(Listing.self, from: content).items
  }

  /// The sequence number.
  public var id: Int { sequence }

  /// Whether the exchange is over: the response was sent, or the client closed the connection.
  public var hasEnded: Bool { durationMilliseconds != nil }
}
