import ApusCore
import ApusTesting
import HTTPTypes
import Testing

@Suite("Methods") struct MethodTests {
  @Test(
    "Each endpoint factory sends its method's exact token",
    arguments: [
      (Request<Void>.get("/"), "GET"), (.head("/"), "HEAD"), (.post("/"), "POST"), (.put("/"), "PUT"),
      (.patch("/"), "PATCH"), (.delete("/"), "DELETE"), (.options("/"), "OPTIONS"),
      (.method(.query, "/"), "QUERY"), (.method(.trace, "/"), "TRACE"),
    ])
  func tokens(request: Request<Void>, token: String) async throws {
    #expect(try await builtMessage(request).head.method.rawValue == token)
  }

  @Test(
    "Each endpoint factory for decoded responses sends its method's exact token",
    arguments: [
      (Request<Int>.get("/"), "GET"), (.post("/"), "POST"), (.put("/"), "PUT"), (.patch("/"), "PATCH"),
      (.delete("/"), "DELETE"), (.query("/", content: .empty), "QUERY"), (.method(.options, "/"), "OPTIONS"),
    ])
  func decodedTokens(request: Request<Int>, token: String) async throws {
    #expect(try await builtMessage(request).head.method.rawValue == token)
  }

  @Test(
    "Each endpoint factory for responses decoded by the call sends its method's exact token and content",
    arguments: [
      (Request<Content>.get("/?a=1"), "GET", nil), (.post("/", query: ["a": 1], content: .text("c")), "POST", "c"),
      (.put("/", query: ["a": 1], content: .text("c")), "PUT", "c"),
      (.patch("/", query: ["a": 1], content: .text("c")), "PATCH", "c"),
      (.delete("/", query: ["a": 1], content: .text("c")), "DELETE", "c"),
      (.query("/", query: ["a": 1], content: .text("c")), "QUERY", "c"),
      (.method(.trace, "/", query: ["a": 1], content: .text("c")), "TRACE", "c"),
    ] as [(Request<Content>, String, String?)])
  func undecodedTokens(request: Request<Content>, token: String, expected: String?) async throws {
    let message = try await builtMessage(request)
    #expect(message.head.method.rawValue == token)
    #expect(message.target == "/?a=1")
    #expect(content(of: message) == expected)
    #expect(try await client(answering: .text("7")).send(request, as: Int.self) == 7)
  }

  @Test(
    "A custom method is sent with its spelling unchanged",
    arguments: ["PURGE", "purge", "M-SEARCH", "x!#$%&'*+.^_`|~9"])
  func custom(token: String) async throws {
    let method = try #require(HTTPRequest.Method(token))
    let request: Request<Void> = .method(method, "/")
    #expect(try await builtMessage(request).head.method.rawValue == token)
  }

  @Test("A method that is not a token is refused", arguments: ["", "A B", "GET\r\n", "G\u{E9}T", "a/b", "a:b"])
  func malformed(token: String) {
    #expect(HTTPRequest.Method(token) == nil)
  }

  @Test("The path, query and content passed to an endpoint factory are sent")
  func everything() async throws {
    let request: Request<Int> = .query("/search", query: ["page": 2], content: .text("deep"))
    let message = try await builtMessage(request)
    #expect(message.target == "/search?page=2")
    #expect(text(of: message.content) == "deep")
  }
}
