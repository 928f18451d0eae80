import Foundation
import HTTPTypes
import NIOCore
import Synchronization

/// Routes that misbehave on request, to demonstrate how clients handle faults.
///
/// - `GET /faults/stall`: no response until the client disconnects
/// - `GET /faults/slow?ms=`: `{"slept_ms": ms}` after `ms` milliseconds
/// - `GET /faults/drip?bytes=&ms=`: text of `bytes` bytes, one every `ms` milliseconds
/// - `GET /faults/malformed`: 200 with truncated JSON
/// - `GET /faults/wrong-shape`: 200 with a page of friends whose members have the wrong types
/// - `GET /faults/redirect?to=`: 302 to that URL
/// - `GET /faults/status/{code}?retry_after=`: that status (200 to 599); from 400 on, with a problem as content
/// - `GET /faults/flaky?key=&failures=&retry_after=`: 503 for the first `failures` requests with this key, then 200
///
/// Routes with `retry_after` (seconds) accept `retry_after_ms` too. It is sent as the field `retry-after-ms`, which
/// some servers use, so that demos and tests need not wait for a whole second.
struct FaultRoutes {
  let flakyAttempts: FlakyAttempts

  private struct Slept: Encodable {
    let sleptMs: Int
  }

  private struct Recovered: Encodable {
    let attempts: Int
  }

  func add(to routes: inout Routes) {
    routes.on(.get, "/faults/stall") { _, context in
      await context.connection.waitUntilLeft()
      throw ClientLeft()
    }
    routes.on(.get, "/faults/malformed") { _, _ in
      .text(#"{"items": [{"id": 1, "name": "A"#, type: "application/json")
    }
    routes.on(.get, "/faults/wrong-shape") { _, _ in
      .text(#"{"items": {"id": "one"}, "page": "first", "total_pages": null}"#, type: "application/json")
    }
    routes.on(.get, "/faults/redirect") { request, _ in
      guard let target = try Query(request.query)["to"], target.hasPrefix("http://127.0.0.1:") else {
        throw Problem.invalid([FieldError(field: "to", message: "must be a URL of this machine")])
      }
      return Response(status: .found, headers: [.location: target])
    }
    routes.on(.get, "/faults/slow") { request, context in
      let milliseconds = try Query(request.query).integer("ms", in: 0...60_000, default: 1000)
      try await context.pause(for: .milliseconds(milliseconds))
      return .json(Slept(sleptMs: milliseconds))
    }
    routes.on(.get, "/faults/drip", drip)
    routes.on(.get, "/faults/status/{code}", status)
    routes.on(.get, "/faults/flaky", flaky)
  }

  @Sendable
  private func drip(_ request: Request, _ context: BackendContext) async throws -> Response {
    let query = try Query(request.query)
    let bytes = try query.integer("bytes", in: 1...100_000, default: 50)
    let pause = Duration.milliseconds(try query.integer("ms", in: 0...10_000, default: 20))
    let body = ResponseBody { write in
      for _ in 0..<bytes {
        try await context.pause(for: pause)
        try await write(ByteBuffer(string: "."))
      }
    }
    return Response(status: .ok, headers: [.contentType: "text/plain"], body: body)
  }

  @Sendable
  private func status(_ request: Request, _ context: BackendContext) async throws -> Response {
    guard let code = context.parameters["code"].flatMap(Int.init), (200...599).contains(code) else {
      throw Problem.invalid([FieldError(field: "code", message: "must be a status from 200 to 599")])
    }
    let status = HTTPResponse.Status(integerLiteral: code)
    var response =
      code < 400
      ? Response(status: status) : Problem(status, "This status was asked for.").response()
    response.headers.append(contentsOf: try retryAfter(try Query(request.query)))
    if code == 401 { response.headers[.wwwAuthenticate] = #"Bearer realm="faults""# }
    return response
  }

  @Sendable
  private func flaky(_ request: Request, _: BackendContext) async throws -> Response {
    let query = try Query(request.query)
    let failures = try query.integer("failures", in: 0...1000, default: 2)
    let fields = try retryAfter(query)
    let attempt = flakyAttempts.attempt(key: query["key"] ?? "")
    guard attempt <= failures else { return .json(Recovered(attempts: attempt)) }
    var response = Problem(.serviceUnavailable, "Attempt \(attempt) fails, as was asked for.").response()
    response.headers.append(contentsOf: fields)
    return response
  }

  /// Returns the header fields with the delay before a retry.
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

/// A counter of the attempts at flaky requests.
final class FlakyAttempts: Sendable {
  /// Clients choose the keys, so the number of keys is limited.
  private static let maximumKeys = 10_000

  private let attempts = Mutex<[String: Int]>([:])

  /// Records an attempt. Returns its number, from 1.
  func attempt(key: String) -> Int {
    attempts.withLock { attempts in
      if attempts.count >= Self.maximumKeys { attempts.removeAll() }
      let number = attempts[key, default: 0] + 1
      attempts[key] = number
      return number
    }
  }
}
