#if os(Linux)
import Apus
import ApusNIO
import Foundation
import LoopbackConformance
import Synchronization
import Testing

/// Passwords for two realms of one server, and the server's log of users.
@Suite("nginx: realms", .needs(.nginx))
struct NginxRealmsTests {
  /// A call to a location: the response, and the status and user of each exchange in the server's log.
  private struct Visit {
    let response: Response<Content>
    let exchanges: [String]
  }

  private let ada = MemoryCredentialsStore(.password(user: "ada", "for apus"))
  private let bob = MemoryCredentialsStore(.password(user: "bob", "for other"))

  /// Makes a call, and waits until the server has logged as many exchanges as the call has made.
  private func visit(_ path: RequestPath, by client: Client) async throws -> Visit {
    let nginx = try await RealServer.nginx.value
    let call = UUID().uuidString
    let response = try await client.response(to: message(.get, path).query(["call": call]))
    let made = response.trace.events.count { $0.kind == .exchangeStarted }
    try await requireSoon("the server has not written down what it answered") {
      Self.exchanges(of: call, with: nginx).count >= made
    }
    return Visit(response: response, exchanges: Self.exchanges(of: call, with: nginx))
  }

  private static func exchanges(of call: String, with nginx: RealServer) -> [String] {
    guard let log = try? nginx.file("logs/realms.log") else { return [] }
    let lines = String(decoding: log, as: UTF8.self).split(separator: "\n")
    return lines.filter { $0.contains(call) }.map { line in
      line.split(separator: " ").suffix(2).joined(separator: " ")
    }
  }

  @Test(
    "The right password is accepted; a wrong or missing one is rejected, and the app is notified if there was a session",
    arguments: Wire.allCases)
  func passwords(wire: Wire) async throws {
    let nginx = try await RealServer.nginx.value
    let strangers = [MemoryCredentialsStore(.password(user: "ada", "wrong")), MemoryCredentialsStore()]
    for (credentials, exchange) in zip([ada] + strangers, ["200 ada", "401 ada", "401 -"]) {
      let events = Mutex<[SessionEnd]>([])
      try await withConfigured(try nginx.url(), over: wire) {
        $0.authentication = .basic(credentials)
        $0.onSessionEnd = { event in events.withLock { $0.append(event) } }
      } body: { client in
        for _ in 0..<3 {
          let seen = try await visit("/realms/apus/file", by: client)
          #expect(seen.exchanges == [exchange])
        }
      }
      #expect(events.withLock { $0.count } == (exchange == "401 ada" ? 1 : 0))
    }
  }

  @Test("A rejected password is a rejection with the server's status", arguments: Wire.allCases)
  func rejection(wire: Wire) async throws {
    let nginx = try await RealServer.nginx.value
    try await withConfigured(try nginx.url(), over: wire) {
      $0.authentication = .basic(MemoryCredentialsStore(.password(user: "ada", "wrong")))
    } body: { client in
      let place = Request<Content>(method: .get, path: "/realms/apus/file", mapping: .content)
      let error = try #require(await failure { try await client.send(place) })
      #expect(error.code == .rejected && error.status == 401 && error.requestState == .responded)
      #expect(!"\(error) \(error.trace)".contains("wrong"))
    }
  }

  @Test("Name and password are sent in UTF-8", arguments: Wire.allCases)
  func unicode(wire: Wire) async throws {
    let nginx = try await RealServer.nginx.value
    try await withConfigured(try nginx.url(), over: wire) {
      $0.authentication = .basic(MemoryCredentialsStore(.password(user: "zoë", "pässwörd €")), realm: "apus")
    } body: { client in
      let seen = try await visit("/realms/apus/file", by: client)
      #expect(seen.exchanges == ["401 -", "200 zo\\xC3\\xAB"])
    }
  }

  @Test(
    "Each of two passwords is sent to its own realm only, and preemptively from the second call on",
    arguments: Wire.allCases)
  func realms(wire: Wire) async throws {
    let nginx = try await RealServer.nginx.value
    try await withConfigured(try nginx.url(), over: wire) {
      $0.environment.authentications = [.basic(ada, realm: "apus"), .basic(bob, realm: "other")]
    } body: { client in
      for asked in [["401 -"], []] {
        let apus = try await visit("/realms/apus/file", by: client)
        #expect(apus.exchanges == asked + ["200 ada"])
        let other = try await visit("/realms/other/file", by: client)
        #expect(other.exchanges == asked + ["200 bob"])
      }
      // Locations below belong to the realm. Other locations send no challenge and get no credentials.
      let below = try await visit("/realms/apus/further/down", by: client)
      #expect(below.exchanges == ["200 ada"])
      let elsewhere = try await client.message(for: message(.get, "/hello"))
      #expect(elsewhere.head.headerFields[.authorization] == nil)
    }
  }

  @Test("A password for an unknown realm is not sent", arguments: Wire.allCases)
  func otherRealm(wire: Wire) async throws {
    let nginx = try await RealServer.nginx.value
    try await withConfigured(try nginx.url(), over: wire) {
      $0.authentication = .basic(ada, realm: "elsewhere")
    } body: { client in
      for _ in 0..<2 {
        let seen = try await visit("/realms/apus/file", by: client)
        #expect(seen.exchanges == ["401 -"])
      }
    }
  }

  @Test("Content sent without a password is resent once with the password, and stored once", arguments: Wire.allCases)
  func content(wire: Wire) async throws {
    let nginx = try await RealServer.nginx.value
    try await withConfigured(try nginx.url(), over: wire) {
      $0.authentication = .basic(ada, realm: "apus")
    } body: { client in
      for attempt in 0..<2 {
        let (name, content) = (UUID().uuidString, Data("content \(attempt) over \(wire)".utf8))
        let place = RequestPath(segments: ["realms", "apus", "stored", name])
        let stored = try await client.response(to: message(.put, place).content(.bytes(content)))
        #expect(stored.head.status.code == 201)
        #expect(stored.trace.events.count { $0.kind == .exchangeStarted } == 2 - attempt)
        #expect(try nginx.file("stored/\(name)") == content)
      }
    }
  }

  @Test(
    "A password is not sent to another port, and is sent again after a redirect back to its server",
    arguments: Wire.allCases)
  func redirects(wire: Wire) async throws {
    let nginx = try await RealServer.nginx.value
    try await withConfigured(try nginx.url(), over: wire) {
      $0.authentication = .basic(ada)
    } body: { client in
      let away = try await visit("/realms/apus/away", by: client)
      #expect(away.exchanges == ["302 ada", "200 -"])
      #expect(away.response.value.string == "[]\n")
      let back = try await visit("/realms/apus/astray", by: client)
      #expect(back.exchanges == ["302 ada", "302 -", "200 ada"])
    }
  }

  @Test("A password of an https server is never sent over http, even if redirects are followed")
  func unprotected() async throws {
    let nginx = try await RealServer.nginx.value
    let authority = try nginx.file("ca.pem")
    for allows in [false, true] {
      var configuration = Configuration(baseURL: try BaseURL("https://localhost:\(try nginx.port("tls13"))"))
      configuration.redirects = .follow(allowsInsecure: allows)
      configuration.authentication = .basic(ada)
      try await withTransport(.nio) {
        $0.trust.additionalTrustRoots = [authority]
      } body: { transport in
        let client = Client(configuration: configuration, transport: transport)
        if allows {
          let seen = try await visit("/realms/apus/away", by: client)
          #expect(seen.exchanges == ["302 ada", "200 -"])
          #expect(seen.response.value.string == "[]\n")
        } else {
          let error = await failure { try await client.send(message(.get, "/realms/apus/away")) }
          #expect(error?.underlying as? RedirectRefusal == .insecure)
        }
      }
    }
  }
}
#endif
