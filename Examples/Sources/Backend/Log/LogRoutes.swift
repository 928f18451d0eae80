import Foundation
import HTTPTypes

/// The log over HTTP, for clients in another process.
///
/// - `GET /__log?after=&method=&path=&client_left=&ended=&count=&wait_ms=`: `{"items": [row]}`; with `wait_ms` the
///   response waits until `count` rows match
/// - `DELETE /__log`: removes the rows
struct LogRoutes {
  static let path = "/__log"

  let log: ExchangeLog

  func add(to routes: inout Routes) {
    routes.on(.get, Self.path) { [log] request, _ in
      let filter = try LogFilter(try Query(request.query))
      let rows = await log.rows(atLeast: filter.count, within: filter.wait, where: filter.matches)
      return Self.response(rows)
    }
    routes.on(.delete, Self.path) { [log] _, _ in
      log.clear()
      return .noContent
    }
  }

  /// `Response.json` cannot be used, because the dates need another encoding strategy.
  private static func response(_ rows: [LoggedExchange]) -> Response {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(["items": rows]) else { return Response(status: .internalServerError) }
    return .text(String(decoding: data, as: UTF8.self), type: "application/json")
  }
}

/// The query of `GET /__log`.
struct LogFilter: Sendable {
  /// Matches only rows after this sequence number.
  let after: Int
  let method: String?
  let path: String?
  let clientLeft: Bool?
  let ended: Bool?
  /// The number of rows to wait for, and the maximum wait.
  let count: Int
  let wait: Duration

  init(_ query: Query) throws(Problem) {
    after = try query.integer("after", in: 0...Int.max, default: 0)
    method = query["method"]
    path = query["path"]
    clientLeft = try query.flag("client_left")
    ended = try query.flag("ended")
    count = try query.integer("count", in: 1...10_000, default: 1)
    wait = .milliseconds(try query.integer("wait_ms", in: 0...60_000, default: 0))
  }

  func matches(_ row: LoggedExchange) -> Bool {
    row.sequence > after
      && (method.map { $0 == row.method } ?? true)
      && (path.map { $0 == row.path } ?? true)
      && (clientLeft.map { $0 == row.clientLeft } ?? true)
      && (ended.map { $0 == row.hasEnded } ?? true)
  }
}

extension Query {
  fileprivate func flag(_ name: String) throws(Problem) -> Bool? {
    switch self[name] {
    case nil: nil
    case "true": true
    case "false": false
    default: throw .invalid([FieldError(field: name, message: "must be true or false")])
    }
  }
}
