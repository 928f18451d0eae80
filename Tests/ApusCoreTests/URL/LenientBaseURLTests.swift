import Testing

@testable import ApusCore

@Suite("Base URLs typed by people")
struct LenientBaseURLTests {
  @Test(
    "A missing scheme becomes http for loopback hosts and https otherwise, and surrounding white space is removed",
    arguments: [
      ("localhost:8080", "http://localhost:8080"), ("localhost", "http://localhost"),
      ("LOCALHOST:8080/v1/", "http://localhost:8080/v1"), ("api.localhost:1", "http://api.localhost:1"),
      ("127.0.0.1:8080", "http://127.0.0.1:8080"), ("127.8.9.1", "http://127.8.9.1"),
      ("[::1]:8080", "http://[::1]:8080"),
      ("api.example.com", "https://api.example.com"),
      ("api.example.com:8443/v1?k=1", "https://api.example.com:8443/v1"),
      ("//api.example.com", "https://api.example.com"), ("192.168.1.20:8080", "https://192.168.1.20:8080"),
      ("127.0.0.1.example.com", "https://127.0.0.1.example.com"),
      ("localhost.example.com", "https://localhost.example.com"),
      (" api.example.com/ \n", "https://api.example.com"), ("http://api.example.com", "http://api.example.com"),
      ("HTTPS://api.example.com", "https://api.example.com"), ("bücher.example", "https://xn--bcher-kva.example"),
      ("api.example.com?next=a://b", "https://api.example.com"),
    ])
  func completed(text: String, expected: String) throws {
    #expect(try BaseURL(lenient: text).description == expected)
  }

  @Test(
    "Typed text that is not clearly a host is refused",
    arguments: [
      "", "  ", "ftp://a.example", "javascript:alert(1)", "mailto:a@b.example", "user:pw@a.example", "me@localhost",
      "a.example#f", "a b.example", "a.example\\x", "http://good.example#@b",
      ":8080", "localhost:", "localhost:99999", "a..example", "::1", "https://", "/path", "//\u{301}a.example:x",
    ])
  func refused(text: String) {
    #expect(throws: BaseURL.ParseError.self, "\(text)") { try BaseURL(lenient: text) }
  }

  @Test("Delimiters in typed text are found by bytes, even next to combining marks")
  func bytes() throws {
    let url = try BaseURL(lenient: "good.example/\u{301}@127.0.0.1/")
    #expect(url.origin?.host == "good.example")
  }
}
