#if os(Linux)
import Apus
import ApusCredentials
import Synchronization
import Testing

/// Digest authentication against an independent server.
///
/// The server accepts neither content nor query on pages with digest authentication, and recognizes stale nonces by
/// cookies.
@Suite("httpbin: digest", .needs(.httpbin))
struct HTTPBinDigestTests {
  private var ada: MemoryCredentialsStore { MemoryCredentialsStore(.password(user: "ada", "right")) }

  private func exchanges(_ response: Response<Content>) -> Int {
    response.trace.events.count { $0.kind == .exchangeStarted }
  }

  @Test(
    "The right password is accepted after one challenge, then sent preemptively, for each quality of protection",
    arguments: Wire.allCases,
    [
      "auth/ada/right", "auth/ada/right/MD5", "auth/ada/right/SHA-256", "auth/ada/right/MD5/never",
      "any/ada/right", "any/ada/right/SHA-256", "auth-int/ada/right", "auth-int/ada/right/SHA-256",
    ])
  func right(wire: Wire, place: String) async throws {
    let httpbin = try await RealServer.httpbin.value
    let watcher = DigestWatcher()
    try await withConfigured(try httpbin.url(), over: wire) {
      $0.authentication = .digest(ada)
      $0.customizePipeline = { $0.insert(watcher, .before(.transport)) }
    } body: { client in
      for exchanges in [2, 1, 1] {
        let response = try await client.response(
          to: message(.get, RequestPath(stringLiteral: "/digest-auth/" + place)))
        #expect(response.head.status == .ok)
        #expect(self.exchanges(response) == exchanges)
        #expect(try response.value.decode(JSONValue.self)["user"] == .string("ada"))
      }
    }
    #expect(watcher.shown.map { $0["nc"] } == [nil, "00000001", "00000002", "00000003"])
    #expect(Set(watcher.shown.dropFirst().map { $0["nonce"] }).count == 1)
  }

  @Test("HEAD is authenticated like GET", arguments: Wire.allCases)
  func head(wire: Wire) async throws {
    let httpbin = try await RealServer.httpbin.value
    try await withConfigured(try httpbin.url(), over: wire) {
      $0.authentication = .digest(ada)
    } body: { client in
      for method in [HTTPRequest.Method.head, .get, .head] {
        let response = try await client.response(to: message(method, "/digest-auth/auth/ada/right/SHA-256"))
        #expect(response.head.status == .ok)
      }
    }
  }

  @Test(
    "A wrong password is rejected after one attempt, and the app is notified once each time", arguments: Wire.allCases)
  func wrong(wire: Wire) async throws {
    let httpbin = try await RealServer.httpbin.value
    let events = Mutex<[SessionEnd]>([])
    try await withConfigured(try httpbin.url(), over: wire) {
      $0.authentication = .digest(MemoryCredentialsStore(.password(user: "ada", "wrong")))
      $0.onSessionEnd = { event in events.withLock { $0.append(event) } }
    } body: { client in
      for _ in 0..<3 {
        let response = try await client.response(to: message(.get, "/digest-auth/auth/ada/right"))
        #expect(response.head.status == .unauthorized)
        #expect((1...2).contains(exchanges(response)))
      }
      let place = Request<Content>(method: .get, path: "/digest-auth/auth/ada/right", mapping: .content)
      let error = try #require(await failure { try await client.send(place) })
      #expect(error.code == .rejected && error.status == 401)
    }
    #expect(events.withLock { $0.count } == 1)
  }

  @Test("A challenge that cannot or must not be met is returned to the caller")
  func unanswered() async throws {
    let httpbin = try await RealServer.httpbin.value
    let cases: [(Authentication, String)] = [
      (.digest(MemoryCredentialsStore()), "auth/ada/right"), (.digest(ada), "auth/ada/right/SHA-512"),
      (.digest(ada, allowsMD5: false), "auth/ada/right/MD5"),
    ]
    for (authentication, place) in cases {
      let watcher = DigestWatcher()
      try await withConfigured(try httpbin.url()) {
        $0.authentication = authentication
        $0.customizePipeline = { $0.insert(watcher, .before(.transport)) }
      } body: { client in
        let response = try await client.response(
          to: message(.get, RequestPath(stringLiteral: "/digest-auth/" + place)))
        #expect(response.head.status == .unauthorized, "\(place)")
      }
      #expect(watcher.shown == [[:]], "\(place)")
    }
  }

  @Test("A stale nonce is replaced by a new nonce, and the call succeeds")
  func stale() async throws {
    let httpbin = try await RealServer.httpbin.value
    let watcher = DigestWatcher(keepsCookies: true)
    try await withConfigured(try httpbin.url()) {
      $0.authentication = .digest(ada)
      $0.customizePipeline = { $0.insert(watcher, .before(.transport)) }
    } body: { client in
      // The server accepts each nonce twice.
      for exchanges in [2, 1, 2, 1, 2] {
        let response = try await client.response(to: message(.get, "/digest-auth/auth/ada/right/MD5/2"))
        #expect(response.head.status == .ok)
        #expect(self.exchanges(response) == exchanges)
      }
    }
    let counts: [String?] = [
      nil, "00000001", "00000002", "00000003", "00000001", "00000002", "00000003", "00000001",
    ]
    try #require(watcher.shown.map { $0["nc"] } == counts)
    let nonces = watcher.shown.map { $0["nonce"] }
    let expected: [String?] = [nil] + [1, 1, 1, 4, 4, 4, 7].map { nonces[$0] }
    #expect(nonces == expected)
    #expect(Set(nonces).count == 4)
  }

  @Test("A server that declares every nonce stale receives a bounded number of requests")
  func alwaysStale() async throws {
    let httpbin = try await RealServer.httpbin.value
    try await withConfigured(try httpbin.url()) {
      $0.authentication = .digest(ada)
    } body: { client in
      for _ in 0..<2 {
        let place = message(.get, "/digest-auth/auth/ada/right").field("Cookie", "stale_after=0")
        let response = try await client.response(to: place)
        #expect(response.head.status == .unauthorized)
        #expect((2...5).contains(exchanges(response)))
      }
    }
  }

  @Test("Concurrent calls never use the same nonce count twice")
  func atOnce() async throws {
    let httpbin = try await RealServer.httpbin.value
    let watcher = DigestWatcher()
    try await withConfigured(try httpbin.url()) {
      $0.authentication = .digest(ada)
      $0.customizePipeline = { $0.insert(watcher, .before(.transport)) }
    } body: { client in
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<40 {
          group.addTask {
            try await client.response(to: message(.get, "/digest-auth/auth/ada/right")).head.status.code
          }
        }
        for try await status in group { #expect(status == 200) }
      }
    }
    let shown = watcher.shown.filter { !$0.isEmpty }
    #expect(shown.count >= 40)
    #expect(Set(shown.map { [$0["nonce"], $0["nc"]] }).count == shown.count)
  }

  @Test("If the client has several schemes, the server's challenge determines the scheme", arguments: Wire.allCases)
  func chosen(wire: Wire) async throws {
    let httpbin = try await RealServer.httpbin.value
    try await withConfigured(try httpbin.url(), over: wire) {
      let me = MemoryCredentialsStore(.password(user: "me", "basic"))
      $0.environment.authentications = [.digest(ada), .basic(me, realm: "Fake Realm")]
    } body: { client in
      let places = ["/digest-auth/auth/ada/right", "/basic-auth/me/basic", "/digest-auth/any/ada/right/SHA-256"]
      for place in places + places.dropFirst() {
        let response = try await client.response(to: message(.get, RequestPath(stringLiteral: place)))
        #expect(response.head.status == .ok, "\(place)")
      }
      // The server requests MD5, although SHA-256 was used before.
      do throws(CallError) {
        _ = try await client.response(to: message(.get, "/digest-auth/auth/ada/right"))
        Issue.record("a weaker digest was answered")
      } catch {
        #expect(error.underlying is DigestRefusal)
      }
      let bearer = try await client.response(to: message(.get, "/bearer"))
      #expect(bearer.head.status == .unauthorized)
    }
  }
}
#endif
