import Apus
import Backend

/// The log of a server, in this process or another.
protocol ServerLog: Sendable {
  /// Returns the number of the last row.
  func position() async throws -> Int

  /// Waits until `count` requests with a method and path have arrived since a position, whether or not they have a
  /// response.
  ///
  /// - Throws: ``NoArrival``
  func waitForArrivals(_ count: Int, of subject: String, since position: Int) async throws

  /// Returns the rows since a position, after waiting up to three seconds until all of them have ended.
  func rows(since position: Int) async throws -> [LoggedExchange]
}

/// The error of a request that did not arrive in time.
struct NoArrival: Error, CustomStringConvertible {
  let subject: String
  var description: String { "The request \(subject) did not arrive at the server" }
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

/// The log of a server in another process, read over HTTP.
struct RemoteLog: ServerLog {
  private let client: Client

  init(at baseURL: BaseURL) {
    client = Client(baseURL: baseURL) {
      // The server delays its responses by up to ten seconds, until there are rows.
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
