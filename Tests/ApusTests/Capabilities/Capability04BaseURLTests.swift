import Apus
import ApusTestServer
import Testing

@Suite("4: base URL and path")
struct Capability04BaseURLTests {
  @Test(
    "Every combination of slashes between base URL and path yields the same URL",
    arguments: ["/v1", "/v1/", "/v1//"], ["/users", "users", "/users"])
  func slashes(base: String, path: String) async throws {
    try await withServer(path: base) { api, server in
      try await api.send(.get(RequestPath(stringLiteral: path)))
      #expect(server.exchanges[0].target == "/v1/users")
    }
  }

  @Test("An empty path requests the root", arguments: ["", "/"])
  func root(path: String) async throws {
    try await withServer { api, server in
      try await api.send(.get(RequestPath(stringLiteral: path)))
      #expect(server.exchanges[0].target == "/")
    }
  }

  @Test("The base URL's path and query precede the request's path and query")
  func baseKept() async throws {
    try await withServer(path: "/v1?region=eu") { api, server in
      try await api.send(.get("/users", query: ["page": 2]))
      try await api.send(.get("/users?sort=name", query: ["page": 2]))
      #expect(
        server.exchanges.map(\.target) == ["/v1/users?region=eu&page=2", "/v1/users?region=eu&sort=name&page=2"])
    }
  }

  @Test("A request to a complete URL of another server is sent without credentials")
  func completeURL() async throws {
    try await withServer(answering: .text("picture")) { _, pictures in
      try await TestServer.with { _ in
        .json(#"{"avatar":"\#(pictures.origin)/a%2Fb.png?size=2","friends":"friends?page=2"}"#)
      } body: { server in
        struct Profile: Decodable, Sendable { let avatar, friends: String }
        let api = server.client(path: "/v1") {
          $0.authentication = .bearer(MemoryCredentialsStore(token: "s3nt1nel"))
          $0.environment.setField("X-Tenant", "s3nt1nel", isSensitive: true)
        }
        let profile = try await api.response(to: Request<Profile>.get("/users/7"))
        let picture: String = try await api.send(.get(.url(profile.value.avatar)))
        #expect(picture == "picture")
        #expect(pictures.exchanges.map(\.target) == ["/a%2Fb.png?size=2"])
        #expect(!"\(pictures.exchanges.map(\.fields))".contains("s3nt1nel"))
        let _: Profile = try await api.send(.get(.url(profile.value.friends, relativeTo: profile.url)))
        #expect(server.exchanges.map(\.target) == ["/v1/users/7", "/v1/users/friends?page=2"])
        #expect(server.exchanges.allSatisfy { $0.fields["Authorization"] == "Bearer s3nt1nel" })
      }
    }
  }

  @Test(
    "An interpolated path value is one segment that the server decodes to the same text",
    arguments: [
      "a/b", "a?b", "a#b", "100%", "%2F", "a b", "日本", "é", "e\u{301}", "👩‍👩‍👧", "a;b=c", "a+b", "..a", "~", "\\",
      "\"<>^`{|}",
    ])
  func segments(value: String) async throws {
    try await withServer { api, server in
      try await api.send(.get("/users/\(value)/friends"))
      let segments = server.exchanges[0].target.split(separator: "/", omittingEmptySubsequences: false)
      #expect(segments.count == 4)
      let decoded = try #require(decode(segments[2]))
      #expect(Array(decoded.utf8) == Array(value.utf8))
      #expect(server.exchanges[0].query == nil)
    }
  }

  @Test(
    "A path value that is a dot segment in any spelling is refused, and nothing is sent",
    arguments: [".", "..", "%2e", "%2E%2e", ".%2e", "%252e%252e", "", "a\r\nb", "a\0"])
  func refusedValues(value: String) async throws {
    try await withServer { api, server in
      let error = try #require(await failure { try await api.send(.get("/users/\(value)/friends")) })
      #expect(error.code == .invalidRequest)
      #expect(error.requestState == .notSent)
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test(
    "An absolute URL, another host, a dot segment or a fragment in a path is refused, and nothing is sent",
    arguments: [
      "http://evil.test/users", "https://evil.test", "//evil.test/users", "/a/../b", "/a/./b", "..", "/a/%2e%2e/b",
      "/a/%252e%252e/b", "/a#b", "/a%", "/a%zz",
    ])
  func refusedPaths(path: String) async throws {
    try await withServer { api, server in
      let error = try #require(await failure { try await api.send(.get(RequestPath(stringLiteral: path))) })
      #expect(error.code == .invalidRequest)
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test(
    "A malformed base URL makes calls throw invalidRequest and can be detected early",
    arguments: [
      "", "example.com", "ftp://example.com", "http://", "http://exa mple.com", "http://user:pw@example.com",
      "http://example.com:99999", "http://example.com/#a", "http://[::1", "http://example.com/../a",
      "http://exa_mple..com",
    ])
  func malformedBase(text: String) async throws {
    let api = Client(baseURL: BaseURL(stringLiteral: text))
    let error = try #require(await failure { try await api.send(.ping) })
    #expect(error.code == .invalidRequest)
    #expect(throws: BaseURL.ParseError.self) { try BaseURL(text) }
  }

  @Test("A path can be a list of segments, and each segment is encoded as a whole")
  func segmentList() async throws {
    try await withServer { api, server in
      try await api.send(.get(RequestPath(segments: ["files", "a/b", "c d.txt"])))
      try await api.send(.get("/files/\(segments: ["a/b", "c"])"))
      #expect(server.exchanges.map(\.target) == ["/files/a%2Fb/c%20d.txt", "/files/a%2Fb/c"])
    }
  }
}
