import ApusCore
import Testing

@testable import ApusMiddleware

@Suite("Cookie jar state")
struct CookieStateTests {
  private static let home = "http://home.example.org/cookies/set"

  // MARK: Domains

  private static let domains: [(attribute: String, host: String, isSent: Bool)] = [
    ("", "home.example.org", true), ("", "sub.home.example.org", false), ("", "example.org", false),
    ("Domain=home.example.org", "home.example.org", true), ("Domain=home.example.org", "sub.home.example.org", true),
    ("Domain=.home.example.org", "sub.home.example.org", true), ("Domain=HOME.Example.ORG", "home.example.org", true),
    ("Domain=example.org", "home.example.org", true), ("Domain=example.org", "example.org", true),
    ("Domain=.example.org", "other.example.org", true), ("Domain=example.org", "badexample.org", false),
    ("Domain=example.org", "example.org.", false), ("Domain=sub.home.example.org", "home.example.org", false),
    ("Domain=sub.home.example.org", "sub.home.example.org", false),
    ("Domain=other.example.org", "home.example.org", false),
    ("Domain=e.example.org", "home.example.org", false), ("Domain=xample.org", "home.example.org", false),
    ("Domain=..example.org", "home.example.org", false), ("Domain=home..example.org", "home.example.org", false),
    ("Domain=example.org.", "home.example.org", false), ("Domain=*.example.org", "home.example.org", false),
    ("Domain=example.com", "home.example.org", false), ("Domain=\"example.org\"", "home.example.org", false),
    ("Domain=home.example.org:80", "home.example.org", false),
    ("Domain=http://home.example.org", "home.example.org", false),
    ("Domain=home .example.org", "home.example.org", false), ("Domain=\t .example.org ", "home.example.org", true),
    ("Domain=", "home.example.org", true), ("Domain=", "sub.home.example.org", false),
    ("Domain=.", "home.example.org", true), ("Domain=.", "sub.home.example.org", false),
    ("Domain=..", "home.example.org", false),
    // One label: a cookie of the response's host only.
    ("Domain=org", "home.example.org", true), ("Domain=.org", "home.example.org", true),
    ("Domain=ORG", "example.org", false),
    ("Domain=org", "other.example.org", false), ("Domain=com", "home.example.org", false),
    ("Domain=org.", "home.example.org", false),
    // The last attribute counts.
    ("Domain=example.org; Domain=home.example.org", "other.example.org", false),
    ("Domain=home.example.org; Domain=example.org", "other.example.org", true),
    ("Domain=example.com; Domain=example.org", "home.example.org", true),
    ("Domain=example.org; Domain=example.com", "home.example.org", false),
    ("Domain=example.org; Domain=", "other.example.org", false),
    ("Domain=example.org; Domain=", "home.example.org", true),
    // Names beyond ASCII are never sent; their ASCII form is.
    ("Domain=exämple.org", "home.example.org", false),
  ]

  @Test("A cookie is sent to the hosts that its Domain covers, if it covers the response's host", arguments: domains)
  func domain(attribute: String, host: String, isSent: Bool) throws {
    var bench = CookieBench()
    try bench.set("a=b; \(attribute)", from: Self.home)
    #expect(try bench.sent(to: "http://\(host)/cookies/x") == (isSent ? "a=b" : ""))
  }

  private static let addresses: [(attribute: String, host: String, isSent: Bool)] = [
    ("", "127.0.0.1", true), ("Domain=127.0.0.1", "127.0.0.1", true), ("Domain=.127.0.0.1", "127.0.0.1", true),
    ("Domain=0.0.1", "127.0.0.1", false), ("Domain=1", "127.0.0.1", false), ("Domain=127.0.0.2", "127.0.0.1", false),
    ("Domain=127.0.0.1", "a.127.0.0.1", false), ("", "[::1]", true), ("Domain=[::1]", "[::1]", true),
    ("Domain=::1", "[::1]", false), ("Domain=[::2]", "[::1]", false), ("", "[2001:DB8::1]", true),
    ("Domain=[2001:db8::1]", "[2001:DB8::1]", true),
  ]

  @Test("A cookie of an address is sent to that address only", arguments: addresses)
  func address(attribute: String, host: String, isSent: Bool) throws {
    var bench = CookieBench()
    try bench.set("a=b; \(attribute)", from: "http://\(host.hasPrefix("a.") ? "127.0.0.1" : host)/")
    #expect(try bench.sent(to: "http://\(host)/") == (isSent ? "a=b" : ""))
    #expect(bench.state.all.allSatisfy { $0.key.isHostOnly })
  }

  @Test("Ports and the letters of hosts have no effect")
  func ports() throws {
    var bench = CookieBench()
    try bench.set("a=b", from: "https://api.example.com:8443/")
    try bench.set("c=d; Domain=localhost", from: "http://localhost:8080/")
    #expect(try bench.sent(to: "http://API.Example.COM:80/") == "a=b")
    #expect(try bench.sent(to: "http://localhost:9090/") == "c=d")
  }

  @Test("A name in its ASCII form can be a Domain")
  func internationalized() throws {
    var bench = CookieBench()
    try bench.set("a=b; Domain=xn--exmple-cua.org", from: "http://home.xn--exmple-cua.org/")
    try bench.set("c=d; Domain=exämple.org", from: "http://home.xn--exmple-cua.org/")
    #expect(try bench.sent(to: "http://xn--exmple-cua.org/") == "a=b")
  }

  @Test("With a list of public suffixes, a Domain that is one is ignored, or means the response's host")
  func publicSuffixes() throws {
    var bench = CookieBench(isPublicSuffix: { ["com", "co.uk", "github.io"].contains($0) })
    #expect(try bench.set("a=1; Domain=co.uk", from: "http://shop.co.uk/") == .ignored(.foreignDomain))
    #expect(try bench.set("a=1; Domain=.CO.uk", from: "http://shop.co.uk/") == .ignored(.foreignDomain))
    #expect(try bench.set("b=2; Domain=shop.co.uk", from: "http://www.shop.co.uk/") == .stored)
    #expect(try bench.set("c=3; Domain=github.io", from: "http://github.io/") == .stored)
    #expect(try bench.set("d=4; Domain=com", from: "http://example.com/") == .ignored(.foreignDomain))
    #expect(try bench.sent(to: "http://shop.co.uk/") == "b=2")
    #expect(try bench.sent(to: "http://github.io/") == "c=3")
    #expect(try bench.sent(to: "http://apus.github.io/").isEmpty)
  }

  // MARK: Hosts of the jar

  @Test("A wide Domain reaches only the environment's host and trusted hosts")
  func hosts() throws {
    let hosts = CookieHosts(
      own: Origin(scheme: "https", host: "api.example.com", port: 443),
      trusted: [Origin(scheme: "https", host: "files.example.com", port: 443)])
    var bench = CookieBench(hosts: hosts)
    #expect(try bench.set("a=1; Domain=example.com") == .stored)
    #expect(try bench.set("b=2; Domain=com") == .stored)
    #expect(try bench.set("c=3", from: "https://evil.example.com/") == nil)
    #expect(try bench.set("d=4; Domain=example.com", from: "https://evil.example.com/") == nil)
    #expect(try bench.sent(to: "https://api.example.com/v1/x") == "a=1; b=2")
    #expect(try bench.sent(to: "https://files.example.com/v1/x") == "a=1")
    for host in ["example.com", "evil.example.com", "a.api.example.com", "evil.com", "com"] {
      #expect(try bench.sent(to: "https://\(host)/v1/x").isEmpty)
    }
    // A host that is no longer trusted gets nothing, and the cookies stay.
    bench.hosts?.trusted = []
    #expect(try bench.sent(to: "https://files.example.com/v1/x").isEmpty)
    #expect(bench.state.count == 2)
  }

  // MARK: Paths and order

  private static let paths: [(attribute: String, path: String, isSent: Bool)] = [
    ("", "/cookies/set", true), ("", "/cookies/x/y", true), ("", "/cookies", true), ("", "/cookiesx", false),
    ("", "/", false),
    ("Path=/", "/", true), ("Path=/", "/x", true), ("Path=/x", "/cookies/set", false), ("Path=/x", "/x?y", true),
    ("Path=/x/", "/x", false), ("Path=/x/", "/x/y", true), ("Path=x", "/cookies/y", true),
    ("Path=", "/cookies/y", true),
    ("Path=/x; Path=/y", "/x", false), ("Path=/x; Path=/y", "/y", true), ("Path=/x; Path", "/cookies/y", true),
    ("Path=/X", "/x", false), ("Path=/%78", "/x", false), ("Path=/x y", "/x%20y", false),
  ]

  @Test("A cookie is sent to its path and below", arguments: paths)
  func path(attribute: String, path: String, isSent: Bool) throws {
    var bench = CookieBench()
    try bench.set("a=b; \(attribute)", from: Self.home)
    #expect(try bench.sent(to: "http://home.example.org" + path) == (isSent ? "a=b" : ""))
  }

  @Test("Cookies with longer paths come first, then cookies that were created earlier")
  func order() throws {
    var bench = CookieBench()
    for field in [
      "a=1; Path=/", "b=2; Path=/v1", "c=3; Path=/v1/users", "d=4; Path=/v1", "e=5; Path=/v2", "f=6; Path=/",
    ] {
      try bench.set(field)
    }
    #expect(try bench.sent() == "c=3; b=2; d=4; a=1; f=6")
    // A replaced cookie keeps its position, also if its domain attribute is another.
    try bench.set("b=7; Path=/v1")
    try bench.set("a=8; Path=/; Domain=example.com")
    #expect(try bench.sent() == "c=3; b=7; d=4; a=1; f=6; a=8")
    // A cookie that was removed comes back as a new cookie.
    try bench.set("a=; Path=/; Max-Age=0")
    try bench.set("a=9; Path=/")
    #expect(try bench.sent() == "c=3; b=7; d=4; f=6; a=8; a=9")
  }

  @Test("A cookie that replaces an expired cookie is a new cookie")
  func orderAfterExpiry() throws {
    var bench = CookieBench()
    try bench.set("a=1; Max-Age=10")
    try bench.set("b=2")
    bench.now += 10
    try bench.set("a=3")
    #expect(try bench.sent() == "b=2; a=3")
  }

  @Test("A cookie without a name is not stored, and bytes beyond ASCII are sent unchanged")
  func bytes() throws {
    var bench = CookieBench()
    for field in ["token", "=other; Path=/v1/users", "=__Host-a=1; Secure; Path=/"] { try bench.set(field) }
    try bench.set("a=é; Path=/")
    #expect(try bench.sent() == "a=é")
    let target = try #require(try bench.target("https://api.example.com/latin"))
    let latin: [UInt8] = [0x61, 0x3D, 0xE9, 0xFF]
    #expect(bench.state.store(latin, from: target, sentWith: 1, at: bench.now) == .stored)
    #expect(bench.state.cookies(for: target, at: bench.now).first?.value == [0xE9, 0xFF])
    #expect([Cookie]().fieldValue == nil)
  }

  @Test("Cookies that differ in name, domain or path do not replace each other")
  func keys() throws {
    var bench = CookieBench()
    for field in [
      "a=1", "A=2", "a=3; Path=/", "a=4; Domain=api.example.com", "a=5; Domain=example.com", "a=6; Path=/v1/users",
      "b=1",
    ] { #expect(try bench.set(field) == .stored) }
    #expect(bench.state.count == 7)
    // The default path is /v1.
    for field in ["a=7; Path=/v1", "b=2", "a=8; Domain=.API.example.com"] { #expect(try bench.set(field) == .stored) }
    #expect(bench.stored == ["a=7", "A=2", "a=3", "a=8", "a=5", "a=6", "b=2"])
  }

  // MARK: Time

  @Test("A cookie is sent until it expires, a session cookie always")
  func expiry() throws {
    var bench = CookieBench()
    try bench.set("a=1; Max-Age=10")
    try bench.set("b=2")
    try bench.set("c=3; Expires=Fri, 15 Jan 2027 08:00:20 GMT")
    bench.now += 9
    #expect(try bench.sent() == "a=1; b=2; c=3")
    bench.now += 1
    #expect(try bench.sent() == "b=2; c=3")
    bench.now += 10
    #expect(try bench.sent() == "b=2")
    bench.now += 10_000 * 24 * 60 * 60
    #expect(try bench.sent() == "b=2")
    #expect(bench.state.count == 1)
  }

  @Test("A cookie in the past removes the cookie with its key, and only that")
  func deletion() throws {
    var bench = CookieBench()
    try bench.set("a=1")
    try bench.set("a=2; Path=/")
    try bench.set("a=3; Domain=example.com")
    #expect(try bench.set("a=x; Max-Age=0") == .removed)
    #expect(try bench.sent() == "a=3; a=2")
    #expect(try bench.set("a=x; Path=/; Expires=Thu, 01 Jan 1970 00:00:00 GMT") == .removed)
    #expect(try bench.set("a=x; Domain=example.com; Max-Age=-1; Expires=Fri, 31 Dec 9999 23:59:59 GMT") == .removed)
    #expect(try bench.set("a=x; Max-Age=0") == .removed)
    #expect(try bench.sent().isEmpty)
    #expect(bench.state.count == 0)
  }

  @Test("A session cookie replaces a persistent cookie, and the reverse")
  func persistence() throws {
    var bench = CookieBench()
    try bench.set("a=1; Max-Age=10")
    try bench.set("a=2")
    try bench.set("b=1")
    try bench.set("b=2; Max-Age=10")
    bench.now += 10
    #expect(try bench.sent() == "a=2")
  }

  // MARK: TLS

  @Test("A Secure cookie is stored and sent over TLS only, also for loopback hosts")
  func secure() throws {
    var bench = CookieBench()
    for host in ["api.example.com", "localhost", "127.0.0.1", "[::1]"] {
      #expect(try bench.set("a=1; Secure", from: "http://\(host)/") == .ignored(.insecure))
      #expect(try bench.set("b=2; Secure", from: "https://\(host)/") == .stored)
      #expect(try bench.sent(to: "https://\(host)/") == "b=2")
      #expect(try bench.sent(to: "http://\(host)/").isEmpty)
    }
  }

  /// A field from a response without TLS, and whether it is stored next to a `Secure` cookie `a` of `/v1` and
  /// `example.com`.
  private static let shadows: [(field: String, host: String, isStored: Bool)] = [
    ("a=x", "api.example.com", false), ("a=x; Path=/v1", "api.example.com", false),
    ("a=x; Path=/v1/users", "api.example.com", false), ("a=x; Path=/", "api.example.com", true),
    ("a=x; Path=/v2", "api.example.com", true), ("a=x; Path=/v10", "api.example.com", true),
    ("a=x; Domain=example.com", "api.example.com", false), ("a=x; Domain=api.example.com", "api.example.com", false),
    ("a=x; Max-Age=0; Domain=example.com", "api.example.com", false), ("b=x", "api.example.com", true),
    ("A=x", "api.example.com", true), ("a=x", "example.com", false), ("a=x", "example.org", true),
  ]

  @Test("A response without TLS neither replaces, hides nor removes a Secure cookie", arguments: shadows)
  func shadow(field: String, host: String, isStored: Bool) throws {
    var bench = CookieBench()
    try bench.set("a=1; Secure; Domain=example.com; Path=/v1")
    let outcome = try bench.set(field, from: "http://\(host)/v1/users")
    #expect(outcome == (isStored ? .stored : .ignored(.insecure)))
    #expect(try bench.sent(to: "https://api.example.com/v1/users").contains("a=1"))
    // Over TLS the same field is stored, or removes its own key.
    #expect(try bench.set(field, from: "https://\(host)/v1/users") != .ignored(.insecure))
  }

  @Test("A Secure cookie that has expired protects nothing, and a Secure cookie of a subdomain protects its name above")
  func shadowBelow() throws {
    var bench = CookieBench()
    try bench.set("a=1; Secure; Max-Age=10", from: "https://api.example.com/")
    #expect(try bench.set("a=2; Domain=example.com", from: "http://www.example.com/") == .ignored(.insecure))
    #expect(try bench.set("a=2", from: "http://www.example.com/") == .stored)
    bench.now += 10
    #expect(try bench.set("a=2; Domain=example.com", from: "http://www.example.com/") == .stored)
  }

  @Test("Names with prefixes are stored with their attributes only, and never without TLS")
  func prefixes() throws {
    var bench = CookieBench()
    #expect(try bench.set("__Secure-a=1") == .ignored(.prefix))
    #expect(try bench.set("__SECURE-a=1; Secure", from: "http://api.example.com/") == .ignored(.insecure))
    #expect(try bench.set("__Secure-a=1; Secure; Domain=example.com") == .stored)
    #expect(try bench.set("__Host-a=1; Secure") == .ignored(.prefix))
    #expect(try bench.set("__HOST-a=1; Secure; Path=/; Domain=api.example.com") == .ignored(.prefix))
    #expect(try bench.set("__Host-a=1; Secure; Path=/; Domain=com") == .ignored(.prefix))
    #expect(try bench.set("__Host-a=2; Secure; Path=/") == .stored)
    #expect(try bench.set("=__Host-a=3; Secure; Path=/") == .ignored(.malformed))
    #expect(try bench.sent() == "__Secure-a=1; __Host-a=2")
  }

  @Test("HttpOnly and SameSite are kept and have no effect")
  func withoutEffect() throws {
    var bench = CookieBench()
    try bench.set("a=1; HttpOnly; SameSite=Strict")
    try bench.set("b=2; SameSite=None")
    #expect(try bench.sent() == "a=1; b=2")
    #expect(bench.state.all.map(\.isHTTPOnly) == [true, false])
    #expect(bench.state.all.map(\.sameSite) == [.strict, SetCookie.SameSite.none])
  }

  // MARK: Sessions

  @Test("Clearing removes all cookies and renews the number, and a late response stores nothing")
  func clearing() throws {
    var bench = CookieBench()
    try bench.set("a=1")
    let target = try #require(try bench.target("https://api.example.com/"))
    bench.state.removeAll(number: 2)
    #expect(bench.state.number == 2 && bench.state.count == 0 && bench.state.all.isEmpty)
    #expect(try bench.sent().isEmpty)
    let late = bench.state.store(Array("a=1".utf8), from: target, sentWith: 1, at: bench.now)
    #expect(late == .ignored(.outdated))
    #expect(try bench.sent().isEmpty)
    #expect(try bench.set("a=2") == .stored)
    #expect(try bench.sent() == "a=2")
  }

  @Test("A description of a cookie shows its domain only")
  func masking() throws {
    var bench = CookieBench()
    try bench.set("n4me=\(sentinel); Path=/p4th")
    for cookie in bench.state.all {
      var dumped = ""
      dump(cookie, to: &dumped)
      for text in ["\(cookie)", String(reflecting: cookie), dumped] {
        #expect(text.contains("api.example.com"))
        #expect(!text.contains(sentinel) && !text.contains("n4me") && !text.contains("p4th"))
      }
    }
  }
}
