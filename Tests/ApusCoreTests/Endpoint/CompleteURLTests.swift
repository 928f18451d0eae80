import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Complete URLs in place of a path")
struct CompleteURLTests {
  private func sent(_ path: RequestPath, query: Query = [:]) async throws -> String {
    try await builtMessage(Request<Void>.get(path, query: query), at: "https://api.example.com/v1?region=eu").url
  }

  @Test(
    "A complete URL is sent unchanged, without parts of the base URL",
    arguments: [
      ("https://cdn.example.com/a/b.png", "https://cdn.example.com/a/b.png"),
      ("https://cdn.example.com", "https://cdn.example.com/"),
      ("https://cdn.example.com?x=1", "https://cdn.example.com/?x=1"),
      (
        "HTTPS://CDN.example.com:443/a?X-Amz-Signature=%2Fab+c&b", "https://cdn.example.com/a?X-Amz-Signature=%2Fab+c&b"
      ),
      ("http://[::1]:8080/a//b", "http://[::1]:8080/a//b"),
      ("https://bücher.example/é x", "https://xn--bcher-kva.example/%C3%A9%20x"),
      ("https://cdn.example.com/a/../b#part", "https://cdn.example.com/b"),
      ("https://api.example.com/v1", "https://api.example.com/v1"),
    ])
  func complete(text: String, url: String) async throws {
    #expect(try await sent(.url(text)) == url)
  }

  @Test("Parameters of the request are added to the query of a complete URL")
  func parameters() async throws {
    #expect(try await sent(.url("https://b.example/a?x=1"), query: ["y": 2]) == "https://b.example/a?x=1&y=2")
    #expect(try await sent(.url("https://b.example/a"), query: ["y": 2]) == "https://b.example/a?y=2")
  }

  @Test("A URL of Foundation results in the same request as its text")
  func foundation() async throws {
    let url = try #require(URL(string: "https://b.example/a?x=1#y"))
    #expect(try await sent(.url(url)) == "https://b.example/a?x=1")
  }

  @Test(
    "A relative URL is resolved against another URL",
    arguments: [
      ("/users?page=2", "https://b.example/users?page=2"), ("?page=2", "https://b.example/v2/users?page=2"),
      ("friends", "https://b.example/v2/friends"), ("//c.example/x", "https://c.example/x"),
      ("http://c.example/x", "http://c.example/x"),
    ])
  func relative(text: String, url: String) async throws {
    #expect(try await sent(.url(text, relativeTo: "https://b.example/v2/users?page=1")) == url)
  }

  @Test(
    "An unusable URL fails the call before a request is sent, and the error contains no part of the URL",
    arguments: [
      "", "/s3nt1nel", "//s3nt1nel.example", "s3nt1nel", "ftp://s3nt1nel.example", "file:///s3nt1nel",
      "javascript:s3nt1nel",
      "https://me:s3nt1nel@b.example/", "https://b.example@s3nt1nel.example/", "https://", "https:///s3nt1nel",
      "https://b.example:0/s3nt1nel", "https://b.example/s3nt1nel\r\nx", "https://b.example\\@s3nt1nel.example/",
      "https://0x7f.1/s3nt1nel", "https://b.example/%s3nt1nel", "https://\u{FF42}.example/",
      "https://b.example/" + String(repeating: "s3nt1nel", count: 3000),
    ])
  func refused(text: String) async throws {
    let stub = StubTransport()
    let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
    let error = try #require(await api.result(of: Request<String>.get(.url(text))).error)
    #expect(error.code == .invalidRequest && error.requestState == .notSent)
    #expect(stub.exchanges.isEmpty)
    #expect(!"\(error) \(error.detail) \(error.trace) \(error.message)".contains("s3nt1nel"))
  }

  @Test("A relative URL without a base fails with a hint", arguments: [nil, "", "/v1/users"])
  func noBase(base: String?) async throws {
    await #expect(throws: CallError.self) { try await sent(.url("/users", relativeTo: base)) }
    let error = try #require(await Client.never.result(of: Request<String>.get(.url("/users"))).error)
    #expect(error.detail == "the URL is relative; pass the URL that it is relative to")
  }

  @Test("Descriptions contain the origin of a complete URL but not its path")
  func template() async throws {
    let request = Request<Void>.get(.url("https://b.example/s3nt1nel?x=s3nt1nel"))
    #expect(request.description == "GET https://b.example/{url}")
    #expect(request.path.description == "https://b.example/{url}")
  }

  @Test("A received response has the URL from which it was received; a response created by an app has no URL")
  func responseURL() async throws {
    let stub = StubTransport()
    stub.onAny(reply: .text("ok"))
    let api = Client(environment: Environment(baseURL: "https://api.example.com/v1?region=eu"), transport: stub)
    let response = try await api.response(to: Request<String>.get("/users"))
    #expect(response.url == "https://api.example.com/v1/users?region=eu")
    _ = try await api.send(Request<String>.get(.url("friends", relativeTo: response.url)))
    #expect(stub.exchanges.map(\.target) == ["/v1/users?region=eu", "/v1/friends"])
    let streamed = try await api.withResponse(to: Request<String>.get(.url("https://b.example/x"))) { $0.url }
    #expect(streamed == "https://b.example/x")
    #expect(Response(value: 1).url == nil)
    #expect(!"\(response)".contains("region"))
  }
}

extension Client {
  /// A client whose calls never receive a response.
  fileprivate static var never: Client {
    Client(environment: Environment(baseURL: "https://api.example.com"), transport: StubTransport())
  }
}
