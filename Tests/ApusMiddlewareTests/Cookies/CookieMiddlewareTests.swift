import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Cookies of a client")
struct CookieMiddlewareTests {
  private let stub = StubTransport()
  private let jar = CookieJar()

  /// Returns a client with a jar that follows redirects.
  private func client(_ jar: CookieJar?, _ policy: RedirectPolicy = .follow) -> Client {
    var client = TestClient.following(policy, "https://api.example.com/v1")
    let redirects = client.customize
    client.environment.cookies = jar
    client.customize = {
      redirects(&$0)
      $0.insert(CookieBinding(), .after(.principal))
      $0.insert(CookieMiddleware(), .after(.cookies))
    }
    return client.over(stub)
  }

  private func setting(_ cookies: String...) -> HTTPFields {
    HTTPFields(cookies.map { HTTPField(name: .setCookie, value: $0) })
  }

  /// The field `Cookie` of each exchange; empty if it was missing.
  private var sent: [String] { stub.exchanges.map { $0.field("Cookie") ?? "" } }

  private func notes(_ trace: Trace) -> [String] {
    trace.events.compactMap { event in
      if case .note = event.kind { return "\(event.kind)" }
      return nil
    }
  }

  @Test("The cookies of a response are sent with the next request, and the trace has their numbers")
  func basics() async throws {
    stub.onAny(reply: .status(204))
    stub.on(
      .get, "/v1/login",
      reply: .status(
        204,
        fields: setting(
          "a=1; Path=/; Secure", "b=2; Path=/v1", "c=3; Domain=evil.example", "d=\(String(repeating: "4", count: 4096))"
        )))
    let api = client(jar)
    let login = try await api.response(to: Request<Void>.get("/login"))
    #expect(
      notes(login.trace) == [
        "cookies stored: 2", "cookies ignored: malformed: 1", "cookies ignored: for another domain: 1",
      ])
    let user = try await api.response(to: Request<Void>.get("/users"))
    #expect(sent == ["", "b=2; a=1"])
    #expect(notes(user.trace) == ["cookies sent: 2"])
    #expect("\(jar)" == "CookieJar (2 cookies)")
  }

  @Test("Without a jar no cookie is kept")
  func none() async throws {
    stub.onAny(reply: .status(204, fields: setting("a=1")))
    let api = client(nil)
    for _ in 0..<2 { try await api.send(Request<Void>.get("/users")) }
    #expect(sent == ["", ""])
  }

  @Test("A request with a Cookie field of its own gets no cookies from the jar")
  func own() async throws {
    stub.onAny(reply: .status(204, fields: setting("a=1; Path=/")))
    let api = client(jar)
    try await api.send(Request<Void>.get("/users"))
    try await api.send(Request<Void>.get("/users").field("Cookie", "mine=2"))
    #expect(sent == ["", "mine=2"])
  }

  @Test("Each hop of a redirect sets and sends its own cookies, and a foreign host gets none and sets none")
  func redirects() async throws {
    stub.onAny(reply: .status(204))
    stub.on(
      url: "https://api.example.com/v1/1", .redirect(to: "/v1/2", fields: setting("a=1; Path=/; Domain=example.com")))
    stub.on(
      url: "https://api.example.com/v1/2", .redirect(to: "https://www.example.com/3", fields: setting("b=2; Path=/")))
    stub.on(
      url: "https://www.example.com/3",
      .redirect(to: "https://api.example.com/v1/4", fields: setting("c=3; Domain=example.com; Path=/")))
    try await client(jar).send(Request<Void>.get("/1"))
    #expect(sent == ["", "a=1", "", "a=1; b=2"])
  }

  @Test("A trusted host gets the cookies whose Domain covers it")
  func trusted() async throws {
    stub.onAny(reply: .status(204, fields: setting("a=1; Path=/; Domain=example.com", "b=2; Path=/")))
    let api = client(jar)
    try await api.send(Request<Void>.get("/1"))
    let files = Request<Void>.get(.url("https://files.example.com/7"))
    try await api.send(files)
    try await api.send(files.trusting(Origin(scheme: "https", host: "files.example.com", port: 443)))
    #expect(sent == ["", "", "a=1"])
  }

  @Test("A redirect that waits for a cookie ends with a jar, and without a jar the error says why it does not")
  func cookieLoop() async throws {
    stub.onAny(reply: .status(204))
    stub.on { request, _ in
      request.head.headerFields[.cookie] == nil
    } reply: { [fields = setting("a=1; Path=/")] _ in
      .redirect(to: "/v1/1", fields: fields)
    }
    try await client(jar).send(Request<Void>.get("/1"))
    #expect(sent == ["", "a=1"])
    let error = try #require(await failure { try await client(nil).send(Request<Void>.get("/1")) })
    #expect(error.underlying as? RedirectRefusal == .tooManyRedirects(limit: 10))
    #expect("\(error)".contains("the cookies that the redirects set are not kept"))
    stub.on(url: "https://api.example.com/v1/2", .redirect(to: "/v1/2?a", fields: setting("b=1; Max-Age=0")))
    let other = try #require(await failure { try await client(jar).send(Request<Void>.get("/2")) })
    #expect(!"\(other)".contains("not kept"))
  }

  @Test("A sign-out clears the jar, also for calls that wait and for responses that are late")
  func signOut() async throws {
    let gate = Gate()
    stub.onAny(reply: .status(204, fields: setting("a=1; Path=/")))
    stub.on(.get, "/v1/late", reply: .status(204, fields: setting("a=late; Path=/")).waiting(for: gate))
    let api = client(jar)
    try await api.send(Request<Void>.get("/users"))
    async let late: Void = api.send(Request<Void>.get("/late"))
    try await gate.waitForArrivals(1)
    let before = jar.number
    try await api.signOut()
    #expect(jar.number != before)
    gate.open()
    try await late
    #expect("\(jar)" == "CookieJar (0 cookies)")
    try await api.send(Request<Void>.get("/users"))
    // The first call, the late call, and a call of the next session.
    #expect(sent == ["", "a=1", ""])
  }

  @Test("A call that began before a sign-out is not sent with the cookies of the next session")
  func waitingCall() async throws {
    stub.onAny(reply: .status(204, fields: setting("a=1; Path=/")))
    let gate = Gate()
    var waiting = TestClient("https://api.example.com/v1")
    waiting.environment.cookies = jar
    waiting.customize = {
      $0.insert(CookieBinding(), .after(.principal))
      $0.insert(Hold(gate: gate), .after(.scheduling))
      $0.insert(CookieMiddleware(), .after(.cookies))
    }
    let api = waiting.over(stub)
    async let call = failure { try await api.send(Request<Void>.get("/users")) }
    try await gate.waitForArrivals(1)
    jar.removeAll()
    gate.open()
    let error = try #require(await call)
    #expect(error.code == .refused && error.requestState == .notSent && error.underlying is PrincipalChangedError)
    #expect(stub.exchanges.isEmpty)
  }

  @Test("Calls of different sessions are not coalesced", arguments: [false, true])
  func coalescing(isNamed: Bool) async throws {
    let gate = Gate()
    stub.onAny(reply: .text("mine").waiting(for: gate))
    let api = client(jar)
    let request = Request<String>.get("/mine")
    let shared = isNamed ? request.id("mine", onDuplicate: .coalesce) : request.coalesced()
    async let first = api.send(shared)
    try await gate.waitForArrivals(1)
    async let second = api.send(shared)
    try await waitWhile { !api.calls.all.contains(where: \.hasJoined) }
    jar.removeAll()
    async let third = api.send(shared)
    try await gate.waitForArrivals(2)
    gate.open()
    _ = try await (first, second, third)
    #expect(stub.exchanges.count == 2)
  }

  @Test("Cookies expire by the wall clock of the jar")
  func expiry() async throws {
    let dates = Log<Date>()
    dates.add(Date(timeIntervalSince1970: 1_800_000_000))
    let jar = CookieJar(now: { dates.all.last ?? .distantPast })
    stub.onAny(reply: .status(204))
    stub.on(.get, "/v1/login", reply: .status(204, fields: setting("a=1; Path=/; Max-Age=60")))
    let api = client(jar)
    try await api.send(Request<Void>.get("/login"))
    dates.add(Date(timeIntervalSince1970: 1_800_000_059))
    try await api.send(Request<Void>.get("/users"))
    for date in [
      Date(timeIntervalSince1970: 1_800_000_060), .distantFuture, .distantPast, Date(timeIntervalSince1970: .nan),
    ] {
      dates.add(date)
      try await api.send(Request<Void>.get("/users"))
    }
    #expect(sent == ["", "a=1", "", "", "", ""])
  }

  @Test("Cookies are masked in all output")
  func masking() async throws {
    stub.onAny(reply: .status(500))
    stub.on(.get, "/v1/login", reply: .status(204, fields: setting("a=\(sentinel); Path=/")))
    let api = client(jar)
    try await api.send(Request<Void>.get("/login"))
    let error = try #require(await failure { try await api.send(Request<Void>.get("/users")) })
    #expect(sent.last == "a=\(sentinel)")
    let message = try #require(stub.exchanges.last?.request)
    #expect(message.curl(redaction: Redaction(shownFields: ["cookie"])).contains("Cookie: \(Redaction.mask)"))
    for value in [jar, error, error.trace, message, api.describe(), api] as [Any] {
      #expect(!texts(of: value).contains(sentinel))
    }
  }
}
