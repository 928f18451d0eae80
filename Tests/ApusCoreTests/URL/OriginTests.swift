import Testing

@testable import ApusCore

@Suite("Origins") struct OriginTests {
  @Test(
    "An authority is a host with an optional port",
    arguments: [
      ("https", "API.example.com", "api.example.com", 443), ("HTTP", "a", "a", 80), ("https", "a:8443", "a", 8443),
      ("http", "[::1]", "[::1]", 80), ("http", "[2001:DB8::1]:81", "[2001:db8::1]", 81), ("https", "a:443", "a", 443),
      ("http", "127.0.0.1:65535", "127.0.0.1", 65535),
    ])
  func read(scheme: String, authority: String, host: String, port: Int) {
    #expect(Origin(scheme: scheme, authority: authority) == Origin(scheme: scheme, host: host, port: port))
  }

  @Test(
    "A malformed authority has no origin",
    arguments: [
      "", ":", ":80", "a:", "a:x", "a:+80", "a:-1", "a:0", "a:65536", "a:99999999999999999999", "user@a", "user:pw@a",
      "::1", "[::1", "[::1]x", "[::1]:", "[::1]80", "a/b", "a?b", "a#b", "a b", "a\\b", "a]:1", "a\r\n", "a:8 0",
      "a:８０",
    ])
  func refused(authority: String) {
    #expect(Origin(scheme: "https", authority: authority) == nil)
  }

  @Test("Only http and https have origins")
  func schemes() {
    #expect(Origin(scheme: "ftp", authority: "a") == nil)
    #expect(Origin(scheme: "", authority: "a") == nil)
  }

  @Test("The text of an origin contains the port unless it is the scheme's default")
  func written() {
    #expect(Origin(scheme: "HTTPS", host: "A", port: 443).description == "https://a")
    #expect(Origin(scheme: "http", host: "a", port: 443).description == "http://a:443")
    #expect(Origin(scheme: "ftp", host: "a", port: 21).authority == "a:21")
    #expect(Origin(scheme: "http", host: "a", port: 80) != Origin(scheme: "https", host: "a", port: 80))
  }

  @Test(
    "Only origins of localhost and loopback addresses are this machine",
    arguments: [
      ("localhost", true), ("127.0.0.1", true), ("127.255.255.254", true), ("[::1]", true),
      ("127.0.0.1.example.com", false), ("127.example.com", false), ("127.0.0.256", false), ("127.0.0.+1", false),
      ("127.1", false), ("a.localhost", false), ("128.0.0.1", false), ("example.com", false),
    ])
  func thisMachine(host: String, isThisMachine: Bool) {
    #expect(Origin(scheme: "http", host: host, port: 80).isThisMachine == isThisMachine)
  }
}
