#if os(Linux)
import Apus
import ApusNIO
import Foundation
import Testing

/// A server made for testing clients.
@Suite("httpbin", .needs(.httpbin))
struct HTTPBinTests {
  private func call(_ request: Request<Content>, over wire: Wire) async throws -> Response<Content> {
    let httpbin = try await RealServer.httpbin.value
    return try await withClient(try httpbin.url(), over: wire) { try await $0.response(to: request) }
  }

  private func json(_ request: Request<Content>, over wire: Wire) async throws -> JSONValue {
    try await call(request, over: wire).value.decode(JSONValue.self)
  }

  @Test("Any status is a response", arguments: Wire.allCases)
  func statuses(wire: Wire) async throws {
    for status in [200, 201, 202, 204, 206, 301, 304, 400, 404, 409, 418, 422, 429, 500, 502, 503, 599] {
      let response = try await call(message(.get, "/status/\(status)"), over: wire)
      #expect(response.head.status.code == status)
    }
  }

  @Test("Every method arrives unchanged", arguments: Wire.allCases)
  func methods(wire: Wire) async throws {
    for method in [HTTPRequest.Method.get, .post, .put, .patch, .delete] {
      let name = "\(method)"
      let echo = try await json(message(method, "/anything/a").query(["q": "1 2"]), over: wire)
      #expect(echo["method"] == .string(name))
      #expect(echo["args"] == .object(["q": .string("1 2")]))
    }
  }

  @Test("Fields arrive once, as they were set", arguments: Wire.allCases)
  func fields(wire: Wire) async throws {
    let echo = try await json(message(.get, "/headers").field("X-Own", "a, b"), over: wire)
    #expect(echo["headers"]?["X-Own"] == .string("a, b"))
    #expect(echo["headers"]?["User-Agent"] == .string("apus"))
  }

  @Test("gzip and deflate are decoded", arguments: Wire.allCases)
  func codings(wire: Wire) async throws {
    #expect(try await json(message(.get, "/gzip"), over: wire)["gzipped"] == .bool(true))
    #expect(try await json(message(.get, "/deflate"), over: wire)["deflated"] == .bool(true))
  }

  @Test("A coding that the client did not offer is passed on unchanged, with its name")
  func unknownCoding() async throws {
    let response = try await call(message(.get, "/brotli"), over: .nio)
    #expect(response.field("Content-Encoding") == "br")
    #expect(response.value.data.first != UInt8(ascii: "{"))
  }

  @Test("Content in a format is echoed in that format", arguments: Wire.allCases)
  func formats(wire: Wire) async throws {
    let value: JSONValue = .object([
      "name": .string("Ada €"), "age": .number(36), "tags": .array([.bool(true), .null]),
    ])
    let json = try await json(message(.post, "/post").content(.json(value)), over: wire)
    #expect(json["json"] == value)
    let form = try await self.json(message(.post, "/post").content(.form(["a": "1&2", "b": "ü"])), over: wire)
    #expect(form["form"] == .object(["a": .string("1&2"), "b": .string("ü")]))
    let text = try await self.json(message(.put, "/put").content(.text("plain")), over: wire)
    #expect(text["data"] == .string("plain"))
  }

  @Test("Content of unknown length is sent in chunks")
  func chunks() async throws {
    let pieces = AsyncStream<Data> { stream in
      for number in 0..<100 { stream.yield(Data("piece \(number);".utf8)) }
      stream.finish()
    }
    let echo = try await json(message(.post, "/post").content(.stream(ContentStream(pieces))), over: .nio)
    #expect(echo["data"] == .string((0..<100).map { "piece \($0);" }.joined()))
  }

  @Test("Content can be read while it arrives slowly", arguments: Wire.allCases)
  func streams(wire: Wire) async throws {
    let httpbin = try await RealServer.httpbin.value
    try await withClient(try httpbin.url(), over: wire) { client in
      let lines = try await client.withResponse(to: message(.get, "/stream/50")) { response in
        var all = Data()
        while let piece = try await response.next() { all += piece }
        return all.split(separator: UInt8(ascii: "\n"))
      }
      let ids = try lines.map { try JSONDecoder().decode(JSONValue.self, from: Data($0))["id"]?.number?.int }
      #expect(ids == Array(0..<50))
      // The server sends a byte each second, so the first byte arrives long before the last byte.
      let (dripped, pieces, time) = try await client.withResponse(
        to: message(.get, "/drip?numbytes=10&duration=10&delay=0")
      ) { response in
        var (all, pieces) = (Data(), 0)
        var first: ContinuousClock.Instant?
        while let piece = try await response.next() {
          first = first ?? .now
          all += piece
          pieces += 1
        }
        return (String(decoding: all, as: UTF8.self), pieces, first.map { $0.duration(to: .now) } ?? .zero)
      }
      #expect(dripped == "**********")
      #expect(pieces > 1)
      #expect(time > .milliseconds(500))
      let first = try await client.send(message(.get, "/stream-bytes/20000?seed=1&chunk_size=977"))
      let second = try await client.send(message(.get, "/bytes/20000?seed=1"))
      #expect(first.data.count == 20000)
      #expect(second.data.count == 20000)
    }
  }

  @Test("Credentials are sent in the scheme of the server's challenge", arguments: Wire.allCases)
  func credentials(wire: Wire) async throws {
    let httpbin = try await RealServer.httpbin.value
    for (password, status) in [("right", 200), ("wrong", 401)] {
      try await withConfigured(try httpbin.url(), over: wire) {
        $0.authentication = .basic(MemoryCredentialsStore(.password(user: "me", Secret(password))))
      } body: { client in
        let response = try await client.response(to: message(.get, "/basic-auth/me/right"))
        #expect(response.head.status.code == status)
      }
    }
    try await withConfigured(try httpbin.url(), over: wire) {
      $0.authentication = .bearer(MemoryCredentialsStore(token: "a-token"))
    } body: { client in
      let answer = try await client.send(message(.get, "/bearer")).decode(JSONValue.self)
      #expect(answer["token"] == .string("a-token"))
    }
    let anonymous = try await call(message(.get, "/bearer"), over: wire)
    #expect(anonymous.head.status.code == 401)
  }

  @Test("A deadline ends a call to a slow server", arguments: Wire.allCases)
  func delay(wire: Wire) async throws {
    let httpbin = try await RealServer.httpbin.value
    try await withConfigured(try httpbin.url(), over: wire) { _ in
    } body: { client in
      let error = await failure { try await client.send(message(.get, "/delay/10").timeout(.milliseconds(300))) }
      #expect(error?.code == .timeout)
      let answer = try await client.response(to: message(.get, "/delay/1"))
      #expect(answer.head.status == .ok)
    }
  }

  @Test("Redirects are returned as responses, and cookies are not stored", arguments: Wire.allCases)
  func redirectsAndCookies(wire: Wire) async throws {
    let httpbin = try await RealServer.httpbin.value
    try await withClient(try httpbin.url(), over: wire) { client in
      for path in ["/redirect/2", "/absolute-redirect/1", "/redirect-to?url=/get&status_code=307"] as [RequestPath] {
        let moved = try await client.response(to: message(.get, path))
        #expect((300...399).contains(moved.head.status.code))
        #expect(moved.field("Location") != nil)
      }
      let set = try await client.response(to: message(.get, "/cookies/set?a=b"))
      #expect(set.field("Set-Cookie") == "a=b; Path=/")
      let kept = try await client.send(message(.get, "/cookies")).decode(JSONValue.self)
      #expect(kept["cookies"] == .object([:]))
    }
  }

  @Test("Ranges and validators are supported", arguments: Wire.allCases)
  func conditions(wire: Wire) async throws {
    let part = try await call(message(.get, "/range/100").field("Range", "bytes=26-51"), over: wire)
    #expect(part.head.status.code == 206)
    #expect(part.value.string == "abcdefghijklmnopqrstuvwxyz")
    let same = try await call(message(.get, "/etag/v1").field("If-None-Match", "v1"), over: wire)
    #expect(same.head.status.code == 304)
    let image = try await call(message(.get, "/image/png"), over: wire)
    #expect(image.value.data.starts(with: [0x89, 0x50, 0x4E, 0x47]))
  }

  @Test("Many concurrent calls all receive responses", arguments: Wire.allCases)
  func atOnce(wire: Wire) async throws {
    let httpbin = try await RealServer.httpbin.value
    try await withClient(try httpbin.url(), over: wire) { client in
      let numbers = try await withThrowingTaskGroup(of: String?.self) { group in
        for number in 0..<100 {
          group.addTask {
            try await client.send(message(.get, "/anything/\(number)").query(["n": "\(number)"]))
              .decode(JSONValue.self)["args"]?["n"]?.string
          }
        }
        return try await group.reduce(into: Set<String>()) { if let number = $1 { $0.insert(number) } }
      }
      #expect(numbers == Set((0..<100).map { "\($0)" }))
    }
  }
}
#endif
