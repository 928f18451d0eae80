#if os(Linux)
import Apus
import ApusNIO
import Foundation
import Synchronization
import Testing

/// All kinds of nginx's responses, over both transports.
@Suite("nginx", .needs(.nginx))
struct NginxTests {
  private func get(
    _ path: RequestPath, over wire: Wire, _ change: (Request<Content>) -> Request<Content> = { $0 }
  ) async throws -> Response<Content> {
    let nginx = try await RealServer.nginx.value
    return try await withClient(try nginx.url(), over: wire) {
      try await $0.response(to: change(message(.get, path)))
    }
  }

  private func text() async throws -> Data { try await RealServer.nginx.value.file("files/text.txt") }

  @Test(
    "Content with a length, chunked, coded, throttled or until close equals the file", arguments: Wire.allCases)
  func framings(wire: Wire) async throws {
    let text = try await text()
    for path in ["/files/text.txt", "/chunks/text.txt", "/zipped/text.txt", "/slow/text.txt"] as [RequestPath] {
      let response = try await get(path, over: wire)
      #expect(response.head.status == .ok)
      #expect(response.value.data == text, "\(path)")
      #expect(response.value.mediaType == "text/plain")
    }
    let empty = try await get("/files/empty.txt", over: wire)
    #expect(empty.value.data.isEmpty)
  }

  @Test("A coding is requested and decoded, and the head then describes the decoded content")
  func codings() async throws {
    let text = try await text()
    let decoded = try await get("/zipped/text.txt", over: .nio)
    #expect(decoded.value.data == text)
    #expect(decoded.field("Content-Encoding") == nil)
    let coded = try await get("/zipped/text.txt", over: .nio) { $0.field("Accept-Encoding", "gzip") }
    #expect(coded.field("Content-Encoding") == "gzip")
    #expect(coded.value.data.starts(with: [0x1F, 0x8B]))
    #expect(coded.value.data.count < text.count / 2)
  }

  @Test("A range is a part of the file; a range beyond its end is rejected", arguments: Wire.allCases)
  func ranges(wire: Wire) async throws {
    let text = try await text()
    let part = try await get("/files/text.txt", over: wire) { $0.field("Range", "bytes=10-99") }
    #expect(part.head.status.code == 206)
    #expect(part.value.data == text[10...99])
    #expect(part.field("Content-Range") == "bytes 10-99/\(text.count)")
    let beyond = try await get("/files/text.txt", over: wire) { $0.field("Range", "bytes=999999-") }
    #expect(beyond.head.status.code == 416)
  }

  @Test("Responses without content leave the connection usable", arguments: Wire.allCases)
  func withoutContent(wire: Wire) async throws {
    let nginx = try await RealServer.nginx.value
    let text = try await text()
    try await withClient(try nginx.url(), over: wire) { client in
      let whole = try await client.response(to: message(.get, "/files/text.txt"))
      let tag = try #require(whole.field("ETag"))
      for _ in 0..<5 {
        let head = try await client.response(to: message(.head, "/files/text.txt"))
        #expect(head.value.data.isEmpty)
        #expect(head.field("Content-Length") == "\(text.count)")
        let nothing = try await client.response(to: message(.get, "/nothing"))
        #expect(nothing.head.status.code == 204)
        let same = try await client.response(to: message(.get, "/files/text.txt").field("If-None-Match", tag))
        #expect(same.head.status.code == 304)
        #expect(same.value.data.isEmpty)
        let hello = try await client.response(to: message(.get, "/hello"))
        #expect(hello.value.string == "hello\n")
        #expect(wire == .urlSession || !hello.isOnNewConnection)
      }
    }
  }

  @Test("A status that is not accepted is a rejection with the server's page", arguments: Wire.allCases)
  func rejections(wire: Wire) async throws {
    let nginx = try await RealServer.nginx.value
    try await withClient(try nginx.url(), over: wire) { client in
      for (path, status) in [("/missing", 404), ("/refused", 403), ("/broken", 500)] as [(RequestPath, Int)] {
        let request = Request<Content>(method: .get, path: path, mapping: .content)
        let error = try #require(await failure { try await client.send(request) })
        #expect(error.code == .rejected)
        #expect(error.requestState == .responded)
        #expect(error.status == status)
        #expect(error.content?.data.isEmpty == false)
      }
    }
  }

  @Test("A redirect is returned as a response, and a cookie is not stored", arguments: Wire.allCases)
  func redirectsAndCookies(wire: Wire) async throws {
    let nginx = try await RealServer.nginx.value
    try await withClient(try nginx.url(), over: wire) { client in
      let moved = try await client.response(to: message(.get, "/elsewhere"))
      #expect(moved.head.status.code == 302)
      #expect(moved.field("Location")?.hasSuffix("/hello") == true)
      for _ in 0..<2 {
        let cookie = try await client.response(to: message(.get, "/cookie"))
        #expect(cookie.field("Set-Cookie") == "a=1; Path=/")
        #expect(cookie.value.string == "[]\n")
      }
    }
  }

  @Test("A server that sends a challenge receives the configured credentials", arguments: Wire.allCases)
  func basic(wire: Wire) async throws {
    let nginx = try await RealServer.nginx.value
    let anonymous = try await get("/guarded", over: wire)
    #expect(anonymous.head.status.code == 401)
    #expect(anonymous.field("WWW-Authenticate") == "Basic realm=\"the realm\"")
    for (password, status) in [("secret", 200), ("wrong", 401)] {
      let credentials = MemoryCredentialsStore(.password(user: "user", Secret(password)))
      try await withConfigured(try nginx.url(), over: wire) {
        $0.authentication = .basic(credentials)
      } body: { client in
        let response = try await client.response(to: message(.get, "/guarded"))
        #expect(response.head.status.code == status)
      }
    }
  }

  @Test(
    "A reverse proxy is supported, even if it closes the connection after each response", arguments: Wire.allCases)
  func behind(wire: Wire) async throws {
    let nginx = try await RealServer.nginx.value
    try await withClient(try nginx.url(), over: wire) { client in
      for number in 0..<5 {
        let behind = try await client.response(to: message(.get, "/behind/a/\(number)").query(["b": "c d"]))
        #expect(behind.value.string == "GET /a/\(number)?b=c%20d\n")
        let old = try await client.response(to: message(.delete, "/old/\(number)"))
        #expect(old.value.string == "DELETE /\(number)\n")
        #expect(wire == .urlSession || old.field("Connection") == "close")
      }
    }
  }

  @Test("The server stores the sent content, and sends 100 Continue on request")
  func expectation() async throws {
    let nginx = try await RealServer.nginx.value
    let interim = Mutex<[Int]>([])
    let (name, content) = ("stored/\(UUID())", Data((0..<5000).map { UInt8($0 % 251) }))
    try await withClient(try nginx.url()) { client in
      let request = message(.put, RequestPath(stringLiteral: "/" + name)).content(.bytes(content))
        .field("Expect", "100-continue")
        .setting(InterimResponses.self) { response in interim.withLock { $0.append(response.status.code) } }
      let stored = try await client.response(to: request)
      #expect(stored.head.status.code == 201)
      #expect(interim.withLock { $0 } == [100])
      #expect(try nginx.file(name) == content)
      let deleted = try await client.response(to: message(.delete, RequestPath(stringLiteral: "/" + name)))
      #expect(deleted.head.status.code == 204)
    }
  }

  @Test("The response of a server that rejects content before it has read it is received")
  func earlyAnswer() async throws {
    let nginx = try await RealServer.nginx.value
    try await withClient(try nginx.url()) { client in
      for _ in 0..<20 {
        let content = RequestContent.bytes(Data(repeating: 1, count: 2 << 20))
        let refused = try await client.response(to: message(.put, "/small/file").content(content))
        #expect(refused.head.status.code == 413)
      }
      let hello = try await client.send(message(.get, "/hello"))
      #expect(hello.string == "hello\n")
    }
  }
}
#endif
