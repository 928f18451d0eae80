import Testing

@testable import ApusCore

@Suite("Paths") struct RequestPathTests {
  @Test(
    "Every combination of slashes between base URL and path results in the same URL",
    arguments: [
      "https://api.example.com/v1", "https://api.example.com/v1/", "https://api.example.com/v1//",
    ] as [BaseURL])
  func slashes(base: BaseURL) async throws {
    for path in ["/users/7", "users/7"] as [RequestPath] {
      let message = try await builtMessage(Request<Void>.get(path), at: base)
      #expect(message.url == "https://api.example.com/v1/users/7")
    }
  }

  @Test("A trailing slash of a path is sent")
  func trailingSlash() async throws {
    #expect(try await target("/users/") == "/users/")
    #expect(try await target("users//7") == "/users//7")
  }

  @Test("An empty path is the base URL's path", arguments: [("", "/"), ("/v1", "/v1"), ("/v1/", "/v1")])
  func empty(base: String, expected: String) async throws {
    let base = try BaseURL("https://api.example.com" + base)
    #expect(try await target("", at: base) == expected)
    #expect(try await target(RequestPath(segments: []), at: base) == expected)
  }

  @Test("The URL starts with the base URL's path, and its query with the base URL's query")
  func baseQuery() async throws {
    let base: BaseURL = "https://api.example.com/v1?region=eu"
    #expect(try await target("/users", at: base) == "/v1/users?region=eu")
    #expect(try await target("/users?a=1", query: ["b": 2], at: base) == "/v1/users?region=eu&a=1&b=2")
    #expect(try await target("?a=1", at: base) == "/v1?region=eu&a=1")
    #expect(try await target("/users?", at: base) == "/v1/users?region=eu")
    #expect(try await target("/users", at: "https://api.example.com?") == "/users")
  }

  @Test(
    "A path value is always one segment, independent of its characters",
    arguments: [
      ("a/b", "a%2Fb"), ("a?b", "a%3Fb"), ("a#b", "a%23b"), ("100%", "100%25"), ("%2F", "%252F"), ("a b", "a%20b"),
      ("é", "%C3%A9"), ("e\u{301}", "e%CC%81"), ("日本", "%E6%97%A5%E6%9C%AC"),
      ("👨‍👩‍👧", "%F0%9F%91%A8%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7"),
      ("a..\\..b", "a..%5C..b"), ("a;b=c", "a%3Bb%3Dc"), ("a:b@c", "a%3Ab%40c"), ("..a/x", "..a%2Fx"), ("...", "..."),
      (".hidden", ".hidden"), ("a.", "a."), ("x%2e", "x%252e"), ("~-_.", "~-_."), ("+&=", "%2B%26%3D"),
      ("?\u{301}", "%3F%CC%81"),
    ])
  func encoded(value: String, segment: String) async throws {
    #expect(try await target("/users/\(value)/friends") == "/users/\(segment)/friends")
    #expect(try await target(RequestPath(segments: ["users", value])) == "/users/\(segment)")
  }

  @Test("Numbers, raw values and substrings can be path values")
  func kinds() async throws {
    enum Kind: String { case film = "fi lm" }
    #expect(
      try await target("/\(7)/\(Int64.min)/\(Kind.film)/\("abc".dropFirst())/\(true)")
        == "/7/-9223372036854775808/fi%20lm/bc/true")
  }

  @Test("Slashes separate a list of segments, but not within a segment")
  func segments() async throws {
    #expect(try await target("/files/\(segments: ["a b", "c/d", "e"])") == "/files/a%20b/c%2Fd/e")
    let error = await failure { try await target("/files/\(segments: ["a", "..", "b"])") }
    #expect(error?.code == .invalidRequest)
  }

  @Test("The template of a path has placeholders instead of the values")
  func template() async throws {
    let values = "secret"
    #expect(
      ("/users/\(values)/friends/\(7, "friend")?q=\(values)" as RequestPath).template == "/users/{}/friends/{friend}")
    #expect(("/users" as RequestPath).template == "/users")
    #expect(("/users?page=1" as RequestPath).template == "/users")
    #expect(RequestPath(segments: ["a", "b"]).template == "/{}/{}")
  }

  @Test("Text after a question mark in a path becomes part of the query, and its values are encoded completely")
  func literalQuery() async throws {
    let value = "a&b=c d+é?#%"
    let text = try await target("/search?q=\(value)&sort=up", query: ["page": 1])
    #expect(text == "/search?q=a%26b%3Dc%20d%2B%C3%A9%3F%23%25&sort=up&page=1")
    #expect(QueryDecoding.pairs(of: text) == [["q", value], ["sort", "up"], ["page", "1"]])
  }

  @Test("A path's query value may be empty, be a dot segment, or contain control characters")
  func queryValues() async throws {
    #expect(try await target("/search?a=\("")&b=\("..")&c=\("x\r\ny")") == "/search?a=&b=..&c=x%0D%0Ay")
    #expect(try await target("/search?in=\(segments: ["a", "b/c"])") == "/search?in=a/b%2Fc")
  }

  @Test("Characters in literal text that URLs do not permit are encoded once")
  func literalText() async throws {
    #expect(try await target("/a b/é/x%20y") == "/a%20b/%C3%A9/x%20y")
    #expect(try await target("/a?filter[year]=1990&x=é&why=?") == "/a?filter%5Byear%5D=1990&x=%C3%A9&why=%3F")
    #expect(try await target("/a\\b|c") == "/a%5Cb%7Cc")
    #expect(try await target("/x?\u{301}=1") == "/x?%CC%81=1")
  }

  @Test("A question mark without a query is removed", arguments: ["/a", "/a?"] as [RequestPath])
  func noBareQuestionMark(path: RequestPath) async throws {
    #expect(try await target(path, query: [:]) == "/a")
    #expect(try await target(path, query: ["x": nil]) == "/a")
    #expect(try await target(path, query: ["x": [Int]()]) == "/a")
  }
}
