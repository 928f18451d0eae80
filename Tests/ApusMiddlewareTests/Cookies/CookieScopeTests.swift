import ApusCore
import Testing

@testable import ApusMiddleware

@Suite("Cookie domains and paths")
struct CookieScopeTests {
  private static let domains: [(String, String, Bool)] = [
    ("example.com", "example.com", true), ("example.com", "a.example.com", true),
    ("example.com", "b.a.example.com", true),
    ("com", "example.com", true), ("a.example.com", "example.com", false), ("a.example.com", "b.example.com", false),
    ("example.com", "badexample.com", false), ("example.com", "example.com.", false),
    ("example.com.", "example.com", false), ("example.com.", "a.example.com.", true),
    (".example.com", "a.example.com", false),
    ("", "example.com", false), ("", "", true), ("example.org", "example.com", false), ("localhost", "localhost", true),
    ("127.0.0.1", "127.0.0.1", true), ("0.0.1", "127.0.0.1", false), ("1", "127.0.0.1", false),
    ("[::1]", "[::1]", true), ("1]", "[::1.1]", false), ("0.1", "[::ffff:127.0.0.1]", false),
    ("example.5", "a.example.5", false),
    ("0x7f", "a.0x7f", false),
  ]

  @Test("A domain covers itself and the names below it, but nothing below an address", arguments: domains)
  func domain(domain: String, host: String, isCovered: Bool) {
    #expect(CookieDomain.covers(domain, host: host) == isCovered)
  }

  @Test("The chain of a host has the host and every domain that covers it")
  func chain() {
    #expect(CookieDomain.chain(of: "c.b.example.com") == ["c.b.example.com", "b.example.com", "example.com", "com"])
    #expect(CookieDomain.chain(of: "localhost") == ["localhost"])
    #expect(CookieDomain.chain(of: "example.com.") == ["example.com.", "com."])
    #expect(CookieDomain.chain(of: "a..b") == ["a..b", ".b", "b"])
    for address in ["127.0.0.1", "[::1]", "[::ffff:1.2.3.4]", "1.2.3", "a.0x10", ""] {
      #expect(CookieDomain.chain(of: address) == [address])
    }
  }

  @Test("A dot at the end does not make a second label")
  func labels() {
    for domain in ["com", "com.", "localhost", ""] { #expect(CookieDomain.isSingleLabel(domain)) }
    for domain in ["example.com", "example.com.", "co.uk"] { #expect(!CookieDomain.isSingleLabel(domain)) }
  }

  private static let paths: [(String, String, Bool)] = [
    ("/", "/", true), ("/", "/a", true), ("/a", "/a", true), ("/a", "/a/", true), ("/a", "/a/b", true),
    ("/a/", "/a/", true), ("/a/", "/a/b", true), ("/a/", "/a", false), ("/a", "/ab", false), ("/a", "/", false),
    ("/a/b", "/a", false), ("/a", "/A", false), ("/a%20b", "/a%20b/c", true), ("/a%20b", "/a b", false),
    ("//", "//a", true),
    ("/a", "/a//b", true), ("/a/b", "/a//b", false),
  ]

  @Test("A path covers itself and everything below it", arguments: paths)
  func path(cookiePath: String, path: String, isCovered: Bool) {
    #expect(CookiePath.covers(Array(cookiePath.utf8), Array(path.utf8)) == isCovered)
  }

  private static let targets: [(String, String, String)] = [
    ("/", "/", "/"), ("/a", "/a", "/"), ("/a/", "/a/", "/a"), ("/a/b", "/a/b", "/a"), ("/a/b/", "/a/b/", "/a/b"),
    ("/a/b?c/d", "/a/b", "/a"), ("/a?b/c", "/a", "/"), ("", "/", "/"), ("*", "/", "/"), ("?a", "/", "/"),
    ("//a", "//a", "/"),
    ("//", "//", "/"), ("/a//", "/a//", "/a/"),
  ]

  @Test("The default path is the folder of the request", arguments: targets)
  func defaultPath(target: String, path: String, folder: String) {
    #expect(String(decoding: CookiePath.path(of: target), as: UTF8.self) == path)
    #expect(String(decoding: CookiePath.defaultPath(of: Array(path.utf8)), as: UTF8.self) == folder)
  }

  @Test("Only https is secure, and ports have no effect")
  func origins() throws {
    let own = Origin(scheme: "https", host: "API.example.com", port: 443)
    let hosts = CookieHosts(own: own, trusted: [Origin(scheme: "http", host: "files.example.com", port: 80)])
    for (origin, isServed, isSecure) in [
      ("https://api.example.com", true, true), ("https://api.example.com:8443", true, true),
      ("http://api.example.com:8080", true, false), ("https://files.example.com", true, true),
      ("https://example.com", false, true), ("https://a.api.example.com", false, true),
      ("http://localhost", false, false),
    ] {
      let origin = try #require(try BaseURL(origin).origin)
      let target = CookieTarget(origin, target: "/a?b", among: hosts)
      #expect((target != nil) == isServed)
      #expect(target?.isSecure ?? isSecure == isSecure)
    }
    for loopback in ["http://localhost", "http://127.0.0.1:8080", "http://[::1]"] {
      let origin = try #require(try BaseURL(loopback).origin)
      #expect(CookieTarget(origin, target: "/", among: CookieHosts(own: origin))?.isSecure == false)
    }
    #expect(CookieTarget(own, target: "/", among: CookieHosts(own: nil)) == nil)
  }
}
