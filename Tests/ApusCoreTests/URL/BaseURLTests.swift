import HTTPTypes
import Testing

@testable import ApusCore

@Suite("Base URLs") struct BaseURLTests {
  /// Calls the throwing initializer: a literal as the argument would use the unchecked one.
  private func checked(_ text: String) throws -> BaseURL { try BaseURL(text) }

  @Test(
    "A base URL stores scheme, host, port and path in normal form",
    arguments: [
      ("https://api.example.com", "https://api.example.com"),
      ("HTTPS://API.Example.COM/V1/", "https://api.example.com/V1"),
      ("http://localhost:8080/a/b", "http://localhost:8080/a/b"), ("https://a.example:443", "https://a.example"),
      ("http://a.example:80/", "http://a.example"), ("https://a.example:080", "https://a.example:80"),
      ("http://[::1]:8080/x", "http://[::1]:8080/x"), ("http://[2001:DB8::A]", "http://[2001:db8::a]"),
      ("https://a.example/ü/%41?q=1", "https://a.example/%C3%BC/%41"), ("https://a.example.", "https://a.example."),
      ("https://127.0.0.1:9", "https://127.0.0.1:9"), ("https://a.example//", "https://a.example"),
    ])
  func good(text: String, description: String) throws {
    let base = try BaseURL(text)
    #expect(base.description == description)
    #expect(BaseURL(stringLiteral: text) == base)
    #expect(base.origin != nil)
  }

  @Test(
    "An invalid base URL is refused by the throwing initializer; calls with an invalid literal fail",
    arguments: [
      "", "api.example.com", "//api.example.com", "ftp://a.example", "file:///etc", "https:/a", "https:a.example",
      "https://", "https:///x", "https://?q", "https://:80", "https://user@a.example", "https://user:pw@a.example",
      "https://a@b@c", "https://a.example/#f", "https://a.example#", "https://a .example", " https://a.example",
      "https://a.example ", "https://a.example\\x", "https://a\\@b", "https://a.example/a b", "https://a.example\n",
      "https://a\r\nb", "https://a\u{0}", "https://a.example:", "https://a.example:x", "https://a.example:0",
      "https://a.example:65536", "https://a.example:-1", "https://a.example:+80",
      "https://a.example:999999999999999999999",
      "https://[::1", "https://[::1]x", "https://[::1]:", "https://[zz]", "https://[]", "https://::1",
      "https://a..example", "https://.example", "https://.", "https://-a.example", "https://a-.example",
      "https://a!b.example", "https://a%41.example", "https://a.example//evil", "https://a.example/../x",
      "https://a.example/a/%2e%2e/b", "https://a.example/./", "https://a.example/%zz", "https://a.example?q=%",
      "javascript:alert(1)",
      "https://a/b@c/#x", "https://a#@b", "https://a.example/#\u{301}", "https://u@\u{301}a.example",
      "https\u{301}://a",
    ])
  func refused(text: String) async {
    let error = #expect(throws: BaseURL.ParseError.self) { try BaseURL(text) }
    #expect(error?.description == "the base URL cannot be used: \(error?.reason ?? "?")")
    let literal = BaseURL(stringLiteral: text)
    #expect(literal.origin == nil)
    #expect(literal.description == error?.description)
    let failed = await failure {
      try await client(at: literal).send(Request<Void>.get("/x"))
    }
    #expect(failed?.code == .invalidRequest)
    #expect(failed?.requestState == .notSent)
    #expect(failed?.detail == error?.description)
  }

  @Test("The error for a base URL does not contain its text, which may contain a password")
  func noSecrets() {
    let error = #expect(throws: BaseURL.ParseError.self) { try checked("https://user:s3cr3t@a.example") }
    #expect(error.map { "\($0)" }?.contains("s3cr3t") == false)
    #expect(!BaseURL(stringLiteral: "https://user:s3cr3t@a.example").description.contains("s3cr3t"))
    #expect(!BaseURL(stringLiteral: "https://a.example?key=s3cr3t").description.contains("s3cr3t"))
  }

  @Test("The authority is sent in normal form, without the scheme's default port")
  func authority() async throws {
    for (text, authority) in [
      ("https://API.example:443", "api.example"), ("https://api.example:8443", "api.example:8443"),
      ("http://[::1]:80", "[::1]"), ("https://bücher.example:1", "xn--bcher-kva.example:1"),
    ] {
      let message = try await builtMessage(Request<Void>.get("/x"), at: try BaseURL(text))
      #expect(message.head.authority == authority)
      #expect(message.head.scheme == (text.hasPrefix("https") ? "https" : "http"))
    }
  }

  @Test("An at sign is valid in the path of a base URL, and a question mark in its query")
  func places() throws {
    #expect(try checked("https://a.example/x@y").description == "https://a.example/x@y")
    #expect(try checked("https://a.example?a@b").parts.get().query == "a@b")
    #expect(try checked("https://a.example/?a=b?c[d]").parts.get().query == "a=b%3Fc%5Bd%5D")
  }

  @Test("A client uses a replaced environment, and changes to an environment affect no copy")
  func environment() async throws {
    var environment = Environment("staging", baseURL: "https://staging.example")
    environment.setField("X-A", "1")
    environment.setField("x-a", "2")
    environment.query = ["k": 1]
    let copy = environment
    environment.baseURL = "https://other.example"
    environment.name = "other"
    environment.fields = []
    #expect(copy.fields == [RawField("x-a", "2")] && environment.fields.isEmpty)
    #expect(copy.name == "staging" && copy.baseURL.description == "https://staging.example" && !copy.query.isEmpty)
    let api = client(at: "https://one.example")
    api.use(environment)
    #expect(api.environment.name == "other")
    #expect(try await api.message(for: Request<Void>.get("/x")).url == "https://other.example/x")
  }
}
