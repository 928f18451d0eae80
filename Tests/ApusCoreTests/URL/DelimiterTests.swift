import HTTPTypes
import Testing

@testable import ApusCore

/// U+0301 forms one `Character` with the character before it, and U+037E equals a semicolon: to servers both are bytes.
@Suite("Delimiters are bytes")
struct DelimiterTests {
  @Test(
    "A redaction masks values after delimiters that are followed by a combining mark",
    arguments: [
      ("/a?key=\u{301}s3cr3t", "/a?key=██"), ("/a?\u{301}s3cr3t", "/a?██"),
      ("/a?page=1&\u{301}k=s3cr3t", "/a?page=1&\u{301}k=██"),
    ])
  func redaction(target: String, masked: String) {
    #expect(Array(Redaction(shownParameters: ["page"]).target(target).utf8) == Array(masked.utf8))
  }

  @Test(
    "The directive no-store is found next to any other directive",
    arguments: ["no-store,\u{301}x", "x,\u{301},no-store"])
  func cacheControl(line: String) {
    let head = HTTPResponse(status: .ok, headerFields: [.cacheControl: line])
    #expect(ResponseProgress(head, received: 0).isNoStore)
  }

  @Test("Parameters are added to an existing query with combining marks")
  func adding() throws {
    var message = RequestMessage(
      head: HTTPRequest(method: .get, scheme: "https", authority: "h.example", path: "/a?\u{301}=1&\u{301}k=2"))
    try message.addQuery(["k": "3"])
    #expect(Array(message.target.utf8) == Array("/a?\u{301}=1&\u{301}k=2&k=3".utf8))
  }

  @Test(
    "Parameters of media types are split at semicolons only",
    arguments: [
      ("text/plain;\u{301}a=b;charset=x", "charset", "x"), ("text/plain; charset=\u{301}x; y=z", "charset", "\u{301}x"),
      ("text/plain; a=b\u{37E}charset=x", "charset", nil), ("text/plain; q=\"\u{301}a\"; charset=x", "charset", "x"),
    ] as [(String, String, String?)])
  func mediaType(text: String, name: String, value: String?) {
    #expect(MediaType(text).parameter(name).map { Array($0.utf8) } == value.map { Array($0.utf8) })
  }

  @Test("The essence of a media type ends at the first semicolon")
  func essence() {
    #expect(MediaType("application/json;\u{301}charset=utf-8").isJSON)
    #expect(!MediaType("application/json\u{37E}x").isJSON)
  }

  @Test(
    "The host of a base URL ends at the first slash, even before a combining mark",
    arguments: ["https://good.example/\u{301}@127.0.0.1/", "https://good.example?\u{301}@127.0.0.1/"])
  func baseURL(text: String) throws {
    #expect(try BaseURL(text).origin?.host == "good.example")
  }

  @Test(
    "A combining mark does not hide a delimiter of an authority",
    arguments: ["https:/\u{301}/a", "https://\u{301}a", "https://a:\u{301}80", "https://a.\u{591}b"])
  func authority(text: String) {
    #expect(throws: BaseURL.ParseError.self) { try BaseURL(text) }
  }
}
