import ApusCore
import Testing

@testable import ApusNIO

@Suite("Proxy rules")
struct ProxyRulesTests {
  private func proxy(_ variables: [String: String], _ url: String) throws -> String? {
    let rules = ProxyRules(.environment) { variables }
    let parts = url.split(separator: "/", maxSplits: 2)
    let origin = try #require(Origin(scheme: String(parts[0].dropLast()), authority: String(parts[1])))
    return try rules.proxy(to: origin)?.description
  }

  @Test("http_proxy and https_proxy set the proxy of a scheme, and all_proxy sets the proxy of other schemes")
  func variables() throws {
    let variables = [
      "http_proxy": "http://one:1", "HTTPS_PROXY": "two:2", "all_proxy": "three:3", "HTTP_PROXY": "evil:6",
    ]
    #expect(try proxy(variables, "http://a") == "one:1")
    #expect(try proxy(variables, "https://a") == "two:2")
    #expect(try proxy(["all_proxy": "three:3", "http_proxy": ""], "http://a") == "three:3")
    #expect(try proxy(["ALL_PROXY": "three:3"], "https://a") == "three:3")
    #expect(try proxy(["https_proxy": "lower:1", "HTTPS_PROXY": "upper:2"], "https://a") == "lower:1")
    #expect(try proxy([:], "https://a") == nil)
  }

  @Test("HTTP_PROXY in upper case, which a web server sets from its client's field, is ignored")
  func upperCase() throws {
    #expect(try proxy(["HTTP_PROXY": "evil:6"], "http://a") == nil)
  }

  @Test(
    "Messages are refused if their variable is not the URL of a usable proxy",
    arguments: [
      "socks5://a:1", "https://a:1", "http://", "http://a:99999", "http://a:1/path", "http://u%GG@a:1", "a b",
    ])
  func unusable(url: String) throws {
    let error = try #require(
      #expect(throws: TransportError.self) { try proxy(["all_proxy": url, "no_proxy": "free"], "http://a") })
    #expect(error.code == .invalidRequest)
    #expect(error.requestState == .notSent)
    #expect(!"\(error)".contains(url))
    #expect(try proxy(["all_proxy": url, "no_proxy": "free"], "http://free") == nil)
  }

  @Test(
    "A delimiter in a proxy's URL is recognized even before a combining mark",
    arguments: [
      "http://good.example/\u{301}@127.0.0.1/", "http://good.example/\u{301}@127.0.0.1:80",
      "http://good.example?\u{301}@127.0.0.1", "http://good.example#\u{301}@127.0.0.1",
      "http:/\u{301}/good.example", "http://good.example\u{301}", "http://user@\u{301}good.example",
      "http://user:\u{301}secret@good.example", "http://good.example:\u{301}80",
      "http://good.example\\@127.0.0.1", "http://good.example/\t@127.0.0.1", "http://good.example\n", "\u{212A}ey",
      "http://good.example\u{0}", "http://good.example%2F@127.0.0.1%00", "http://[good.example]:80", "http://a%b",
      "http://a'b", "http://a|b", "http://us%3Aer:x@host", "http://us%0Aer:x@host", "http://user:x%00@host",
      "http://user:%2@host", "http://user:%g0@host", "http://user:%FF@host",
    ])
  func delimiters(url: String) {
    #expect(NIOTransport.Proxy(url: url) == nil)
  }

  @Test("User and password are split before percent-decoding")
  func parting() {
    let read = NIOTransport.Proxy(url: "http://us%65r:p%3Aa:ss%2F@proxy.example:3128")
    #expect(read?.credentials == .init(user: "user", password: "p:a:ss/"))
    #expect(read?.host == "proxy.example")
  }

  @Test(
    "A proxy created from host and port is validated like a proxy from a URL",
    arguments: [
      NIOTransport.Proxy(host: "http://proxy", port: 1), .init(host: "proxy:1", port: 1), .init(host: "", port: 1),
      .init(host: "proxy", port: 0), .init(host: "proxy/\u{301}", port: 1),
      .init(host: "proxy", port: 1, credentials: .init(user: "a:\u{301}b", password: "")),
      .init(host: "proxy", port: 1, credentials: .init(user: "a", password: "b\r\n")),
    ])
  func byHand(proxy: NIOTransport.Proxy) throws {
    var options = NIOTransport.Options()
    options.proxy = .proxy(proxy)
    let error = try #require(#expect(throws: TransportError.self) { try options.validate() })
    #expect(error.code == .invalidRequest && error.detail.contains("option proxy"))
  }

  @Test("Credentials are read from the URL, and no description contains them")
  func credentials() throws {
    let read = try #require(NIOTransport.Proxy(url: "http://us%65r:p%40ss:w%C3%B6rd@[::1]:3128/"))
    #expect(read.credentials == .init(user: "user", password: "p@ss:wörd"))
    #expect(read.host == "[::1]" && read.port == 3128)
    #expect(NIOTransport.Proxy(url: "user@host")?.credentials == .init(user: "user", password: ""))
    #expect(NIOTransport.Proxy(url: "us%3Aer:x@host") == nil)
    var dumped = ""
    dump(NIOTransport.ProxyMode.proxy(read), to: &dumped)
    #expect(!"\(read) \(String(reflecting: read)) \(dumped)".contains("p@ss"))
    let origin = try #require(Origin(scheme: "https", authority: "a"))
    let server = try ProxyRules(.proxy(read)) { [:] }.proxy(to: origin)
    #expect(server?.authorization == "Basic dXNlcjpwQHNzOnfDtnJk")
  }

  @Test(
    "no_proxy accepts names with subdomains, addresses in any spelling, and ranges, each with an optional port",
    arguments: [
      ("example.com", "http://example.com", true), ("example.com", "http://www.EXAMPLE.com", true),
      (".example.com", "http://example.com.", true), ("*.example.com", "http://a.example.com", true),
      ("example.com", "http://badexample.com", false), ("example.com:8080", "http://example.com:8080", true),
      ("example.com:8080", "http://example.com", false), ("*", "http://anything", true),
      ("127.0.0.1", "http://127.0.0.1:99", true), ("127.0.0.1", "http://[::ffff:7f00:1]", true),
      ("::ffff:127.0.0.1", "http://127.0.0.1", true), ("10.0.0.0/8", "http://10.200.3.4", true),
      ("10.0.0.0/8", "http://11.0.0.1", false), ("10.0.0.0/9", "http://10.128.0.1", false),
      ("fd00::/8", "http://[fd12::1]", true), ("fd00::/8", "http://[fe80::1]", false),
      ("[::1]", "http://[0:0:0:0:0:0:0:1]", true), ("::1", "http://[::1]:8080", true),
      ("[::1]:80", "http://[::1]", true), ("[::1]:81", "http://[::1]", false),
      ("10.0.0.0/33", "http://10.0.0.0", false), ("10.0.0.0/x", "http://10.0.0.0", false), (".", "http://a", false),
      ("example.com,\u{301}two", "http://example.com", true), ("one\texample.com\n", "http://example.com", true),
      ("10.0.0.0/+8", "http://10.0.0.0", false), ("example.com:+80", "http://example.com", false),
      ("one, example.com ,two", "http://example.com", true), ("", "http://example.com", false),
    ])
  func exceptions(list: String, url: String, isExcepted: Bool) throws {
    #expect(try proxy(["all_proxy": "proxy:1", "no_proxy": list], url) == (isExcepted ? nil : "proxy:1"))
  }
}
