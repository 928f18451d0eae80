import Foundation
import HTTPTypes
import Hummingbird

/// The log over HTTP, for a client that runs elsewhere.
///
/// - `GET /__log?after=&method=&path=&client_left=&ended=&count=&wait_ms=`: `{"items": [row]}`; with `wait_ms` the
///   answer waits until `count` rows match.
/// - `DELETE /__log`: forgets the rows.
struct LogRoutes {
  static let path = "/__log"

  let log: ExchangeLog

  func add(to routes: inout Routes) {
    routes.on(.get, Self.path) { [log] request, _ in
      let filter = try LogFilter(try Query(request.uri.query))
      let rows = await log.rows(atLeast: filter.count, within: filter.wait, where: filter.matches)
      return Self.answer(rows)
    }
    routes.on(.delete, Self.path) { [log] _, _ in
      log.clear()
      return .noContent
    }
  }

  /// The dates need a strategy of their own.
  private static func answer(_ rows: [LoggedExchange]) -> Response {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    guard let data = try? encoder.encode(["items": rows]) else { return Response(status: .internalServerError) }
    return .text(String(decoding: data, as: UTF8.self), type: "application/json")
  }
}
