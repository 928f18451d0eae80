import Apus
import ArgumentParser
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("URLs on the command line")
struct TargetURLTests {
  @Test(
    "The target is sent as written",
    arguments: [
      ("http://h/a/b?c=d", "/a/b?c=d"), ("http://h", "/"), ("http://h?q", "/?q"), ("http://h/?", "/?"),
      ("http://h/a/?q=what?", "/a/?q=what?"), ("http://h//a//b/", "//a//b/"), ("http://h/a%2Fb%20c", "/a%2Fb%20c"),
      ("http://h/a?b=c#d", "/a?b=c"), ("http://h/a?x=1/../2", "/a?x=1/../2"), ("http://h/a;b=c,d", "/a;b=c,d"),
    ])
  func target(text: String, target: String) throws {
    #expect(try TargetURL(text).target == target)
  }

  @Test(
    "Invalid characters are percent-encoded",
    arguments: [
      ("http://h/a b", "/a%20b"), ("http://h/ü?ö", "/%C3%BC?%C3%B6"),
      ("http://h/\"<>\\^`{|}", "/%22%3C%3E%5C%5E%60%7B%7C%7D"),
      ("http://h/a\r\nb", "/a%0D%0Ab"),
    ])
  func encoding(text: String, target: String) throws {
    #expect(try TargetURL(text).target == target)
  }

  @Test(
    "Dot segments are removed",
    arguments: [
      ("http://h/a/../b", "/b"), ("http://h/a/./b", "/a/b"), ("http://h/a/..", "/"), ("http://h/a/b/.", "/a/b/"),
      ("http://h/../../a", "/a"), ("http://h/a/%2e%2E/b", "/b"), ("http://h/a/.%2e/b", "/b"),
      ("http://h/.a/..b", "/.a/..b"),
    ])
  func dots(text: String, target: String) throws {
    #expect(try TargetURL(text).target == target)
  }

  @Test(
    "The default scheme is https, and http for this machine",
    arguments: [
      ("example.com/a", "https://example.com"), ("localhost:8080/a", "http://localhost:8080"),
      ("127.0.0.1", "http://127.0.0.1"), ("[::1]:81", "http://[::1]:81"), ("user:pw@localhost", "http://localhost"),
      ("HTTP://Example.com:80/", "http://example.com"),
      ("127.evil.example/", "https://127.evil.example"), ("127.0.0.1:80", "http://127.0.0.1"),
      ("127.0.0.1:8765/to?url=http://x.org/", "http://127.0.0.1:8765"),
      ("h.example?u=http://x.org/", "https://h.example"),
    ])
  func scheme(text: String, origin: String) throws {
    #expect(try TargetURL(text, completesScheme: true).origin.description == origin)
  }

  @Test("A missing scheme is added only on request")
  func strict() {
    #expect(throws: TargetURL.Malformed.self) { try TargetURL("example.com/a") }
  }

  @Test(
    "An invalid URL is rejected without being repeated in the message",
    arguments: [
      "", "ftp://h/", "://h/", "h/a?b=http://c/", "http://", "http://:80/", "http://h:0/", "http://h:99999/",
      "http://a b/", "http:///a",
    ])
  func malformed(text: String) {
    #expect(throws: TargetURL.Malformed.self) { try TargetURL(text) }
  }

  @Test(
    "Only a path is relative to the origin",
    arguments: [
      ("/users?a=b", "https://o.example:81/users?a=b"), ("/", "https://o.example:81/"),
      ("/a@b/http://c/", "https://o.example:81/a@b/http://c/"), ("/../a", "https://o.example:81/a"),
      ("h.example/a", "https://h.example/a"), ("users", "https://users/"), ("http://h/a", "http://h/a"),
    ])
  func relative(word: String, url: String) throws {
    let origin = Origin(scheme: "https", host: "o.example", port: 81)
    let target = try TargetURL(word: word, relativeTo: origin)
    #expect("\(target.origin)\(target.target)" == url)
    #expect(target.userInformation == nil)
  }

  @Test("Without an origin a path is not a URL, and two slashes never start a path")
  func noPath() {
    let origin = Origin(scheme: "https", host: "o.example", port: 81)
    #expect(throws: TargetURL.Malformed.self) { try TargetURL(word: "/users", relativeTo: nil) }
    #expect(throws: TargetURL.Malformed.self) { try TargetURL(word: "//h.example/", relativeTo: origin) }
  }

  @Test(
    "URLs of this machine are recognized",
    arguments: [
      ("http://localhost:1/", true), ("http://127.1.2.3/", true), ("http://[::1]:81/", true),
      ("http://127.evil.example/", false), ("http://h.example/", false), ("http://[::2]/", false),
    ])
  func thisMachine(text: String, isOfThisMachine: Bool) throws {
    #expect(try TargetURL(text).isOfThisMachine == isOfThisMachine)
  }

  @Test(
    "User information is split at the first colon, then decoded",
    arguments: [
      ("ada:p%40ss:w", "ada", "p@ss:w"), ("ada", "ada", ""), ("ada:", "ada", ""), (":pw", "", "pw"), ("", "", ""),
      ("a%C3%BC:%3a", "aü", ":"), ("ada:%zz%4", "ada", "%zz%4"), ("u:p@q", "u", "p@q"), ("u:\u{301}", "u", "\u{301}"),
    ])
  func user(text: String, user: String, password: String) throws {
    let url = try TargetURL("http://\(text)@h/a")
    #expect(url.userInformation == .init(user: user, password: Secret(password)))
    #expect(url.origin.description == "http://h")
    #expect(try TargetURL("http://h/a@b").userInformation == nil)
  }

  @Test(
    "A user name with a colon and credentials that are not UTF-8 are rejected",
    arguments: ["a%3Ab:c", "%3a", "a:%FF", "%C3:x"])
  func unusableUser(text: String) {
    #expect(throws: TargetURL.Malformed.self) { try TargetURL("http://\(text)@h/") }
  }

  @Test(
    "The host ends at the first delimiter, even before a combining mark",
    arguments: [
      ("http://good.example/\u{301}@127.0.0.1/", "http://good.example", "/%CC%81@127.0.0.1/"),
      ("http://good.example?\u{301}@127.0.0.1/", "http://good.example", "/?%CC%81@127.0.0.1/"),
      ("http://good.example#\u{301}@127.0.0.1/", "http://good.example", "/"),
      ("http://evil.example@\u{301}@good.example/", "http://good.example", "/"),
      ("http:/\u{301}/good.example/", nil, ""),
      ("http://u@\u{301}127.0.0.1/", nil, ""), ("http://good.example:\u{301}80/", nil, ""),
    ] as [(String, String?, String)])
  func marks(text: String, origin: String?, target: String) {
    let url = try? TargetURL(text)
    #expect(url?.origin.description == origin)
    #expect(url == nil || url?.target == target)
  }

  @Test(
    "Traces contain the path if it has only unreserved characters",
    arguments: [("http://h/a/b?c", "/a/b"), ("http://h/a%20b", "/"), ("http://h//a", "/"), ("http://h", "/")])
  func name(text: String, name: String) throws {
    #expect(try TargetURL(text).endpointName == name)
  }
}
