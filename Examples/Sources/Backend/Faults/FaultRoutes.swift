import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// Answers that no server should give, for clients that must cope with them.
///
/// - `GET /faults/stall`: none, until the client leaves
/// - `GET /faults/slow?ms=`: `{"slept_ms": ms}` after that time
/// - `GET /faults/drip?bytes=&ms=`: that many bytes of text, one each `ms` milliseconds
/// - `GET /faults/malformed`: 200 with JSON that breaks off
/// - `GET /faults/wrong-shape`: 200 with a page of friends whose members have the wrong types
/// - `GET /faults/status/{code}?retry_after=`: that status (200 to 599); a problem from 400 on
/// - `GET /faults/flaky?key=&failures=&retry_after=`: 503 for the first `failures` requests with this key, then 200
///
/// Where there is a `retry_after` in seconds there may be a `retry_after_ms`, for the field `retry-after-ms` that some
/// servers have: nobody needs to wait for a whole second then.
struct FaultRoutes {
  let flakiness: Flakiness

  private struct Slept: Encodable {
    let sleptMs: Int
  }

  private struct Recovered: Encodable {
    let attempts: Int
  }

  func add(to routes: inout Routes) {
    routes.on(.get, "/faults/stall") { _, context in
      await context.connection?.waitUntilLeft()
      throw ClientLeft()
    }
    routes.on(.get, "/faults/malformed") { _, _ in
      .text(#"{"items": [{"id": 1, "name": "A"#, type: "application/json")
    }
    routes.on(.get, "/faults/wrong-shape") { _, _ in
      .text(#"{"items": {"id": "one"}, "page": "first", "total_pages": null}"#, type: "application/json")
    }
    routes.on(.get, "/faults/slow") { request, context in
      let milliseconds = try Query(request.uri.query).integer("ms", in: 0...60_000, default: 1000)
      try await context.pause(for: .milliseconds(milliseconds))
      return .json(Slept(sleptMs: milliseconds))
    }
    routes.on(.get, "/faults/drip", drip)
    routes.on(.get, "/faults/status/{code}", status)
    routes.on(.get, "/faults/flaky", flaky)
  }

  @Sendable
  private func drip(_ request: Request, _ context: BackendContext) async throws -> Response {
    let query = try Query(request.uri.query)
    let bytes = try query.integer("bytes", in: 1...100_000, default: 50)
    let pause = Duration.milliseconds(try query.integer("ms", in: 0...10_000, default: 20))
    let body = ResponseBody { writer in
      for _ in 0..<bytes {
        try await context.pause(for: pause)
        try await writer.write(ByteBuffer(string: "."))
      }
      try await writer.finish(nil)
    }
    return Response(status: .ok, headers: [.contentType: "text/plain"], body: body)
  }

  @Sendable
  private func status(_ request: Request, _ context: BackendContext) async throws -> Response {
    guard let code = context.parameters.get("code").flatMap(Int.init), (200...599).contains(code) else {
      throw Problem.invalid([FieldError(field: "code", message: "must be a status from 200 to 599")])
    }
    let status = HTTPResponse.Status(integerLiteral: code)
    var response =
      code < 400
      ? Response(status: status) : Problem(status, "This status was asked for.").response()
    response.headers.append(contentsOf: try retryAfter(try Query(request.uri.query)))
    if code == 401 { response.headers[.wwwAuthenticate] = #"Bearer realm="faults""# }
    return response
  }

  @Sendable
  private func flaky(_ request: Request, _: BackendContext) async throws -> Response {
    let query = try Query(request.uri.query)
    let failures = try query.integer("failures", in: 0...1000, default: 2)
    let fields = try retryAfter(query)
    let attempt = flakiness.attempt(key: query["key"] ?? "")
    guard attempt <= failures else { return .json(Recovered(attempts: attempt)) }
    var response = Problem(.serviceUnavailable, "Attempt \(attempt) fails, as was asked for.").response()
    response.headers.append(contentsOf: fields)
    return response
  }

  /// When to come back, as fields.
  private func retryAfter(_ query: Query) throws -> HTTPFields {
    var fields = HTTPFields()
    if query["retry_after"] != nil {
      fields[.retryAfter] = String(try query.integer("retry_after", in: 0...3600, default: 0))
    }
    if query["retry_after_ms"] != nil, let name = HTTPField.Name("retry-after-ms") {
      fields[name] = String(try query.integer("retry_after_ms", in: 0...3_600_000, default: 0))
    }
    return fields
  }
}
