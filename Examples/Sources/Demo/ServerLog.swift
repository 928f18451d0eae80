import Apus
import Backend

/// A server's log of what arrived, wherever the server runs.
protocol ServerLog: Sendable {
  /// The number of the last row.
  func position() async throws -> Int

  /// Waits until so many requests with a method and a path have arrived since a position, answered or not.
  func waitForArrivals(_ count: Int, of subject: String, since position: Int) async throws

  /// All rows since a position, once every one of them has ended; those there are when that takes too long.
  func rows(since position: Int) async throws -> [LoggedExchange]
}

/// What did not arrive in time.
struct NoArrival: Error, CustomStringConvertible {
  let subject: String
  var description: String { "\(subject) did not arrive at the server" }
}

/// The log of a server in this process.
struct InProcessLog: ServerLog {
  let log: ExchangeLog

  func position() -> Int { log.rows.last?.sequence ?? 0 }

  func waitForArrivals(_ count: Int, of subject: String, since position: Int) async throws {
    guard count > 0 else { return }
    let rows = await log.rows(atLeast: count) { $0.sequence > position && "\($0.method) \($0.path)" == subject }
    if rows.count < count { throw NoArrival(subject: subject) }
  }

  func rows(since position: Int) async -> [LoggedExchange] {
    let count = log.rows { $0.sequence > position }.count
    _ = await log.rows(atLeast: count, within: .seconds(3)) { $0.sequence > position && $0.hasEnded }
    return log.rows { $0.sequence > position }
  }
}

/// The log of a server that runs elsewhere: read over HTTP, by Apus.
struct RemoteLog: ServerLog {
  private let client: Client

  init(at baseURL: BaseURL) {
    client = Client(baseURL: baseURL) {
      // Its answers wait for rows, for ten seconds at most.
      $0.attemptTimeout = nil
    }
  }

  func position() async throws -> Int { try await fetch([:]).last?.sequence ?? 0 }

  func waitForArrivals(_ count: Int, of subject: String, since position: Int) async throws {
    guard count > 0 else { return }
    let parts = subject.split(separator: " ").map(String.init)
    guard parts.count == 2 else { throw NoArrival(subject: subject) }
    let rows = try await fetch([
      "after": position, "method": parts[0], "path": parts[1], "count": count, "wait_ms": 10_000,
    ])
    if rows.count < count { throw NoArrival(subject: subject) }
  }

  func rows(since position: Int) async throws -> [LoggedExchange] {
    let count = try await fetch(["after": position]).count
    if count > 0 { _ = try await fetch(["after": position, "ended": true, "count": count, "wait_ms": 3000]) }
    return try await fetch(["after": position])
  }

  private func fetch(_ query: Query) async throws(CallError) -> [LoggedExchange] {
    try await client.send(.get("/__log", query: query).json(.snakeCase).at("items"))
  }
}
