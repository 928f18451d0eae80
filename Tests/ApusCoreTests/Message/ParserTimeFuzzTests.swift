import HTTPTypes
import TestSupport
import Testing

@testable import ApusCore

/// Parsers in core that read text from servers or people, with input for which a naive parser takes quadratic time.
@Suite("Fuzz: parsers in core take linear time", .serialized)
struct ParserTimeFuzzTests {
  @Test(
    "Parsing media types and parameters takes linear time",
    arguments: [
      (";", "a/b"), ("; a=\"", "a/b"), ("; a=\"b\"", "a/b"), ("\\\"", "a/b; c=\""), (" ", "a/b"), (" ", ";"),
      ("=", "a;"),
      (";=", "a"), ("\u{301}", "a;"), ("a", ""), ("; a", ""), ("\t;", ""),
    ])
  func mediaTypes(piece: String, start: String) {
    #expect(
      LinearTime.holds(for: LinearTime.repeating(piece, after: start)) { text in
        let type = MediaType(text)
        _ = type.isJSON
        _ = type.parameter("charset")
      })
  }

  @Test(
    "Parsing dates and delays takes linear time",
    arguments: [" ", "9", "Sun, ", "-", ":", "Sunday, 06-Nov-94 ", "\u{301}", "0"])
  func dates(piece: String) {
    #expect(
      LinearTime.holds(for: LinearTime.repeating(piece)) { text in
        _ = HTTPDate.parse(text)
        _ = RetryAfter.delay(in: [.retryAfter: text, .date: text])
        _ = try? ISO8601.date("2020-01-01T00:00:00." + text)
      })
  }

  @Test(
    "Parsing links and rate limits takes linear time",
    arguments: [
      ("<a>,", ""), ("<", ""), (";", "<a>"), (" ", "<a>;"), (",", ""), ("; a=b", "<a>"), ("\\\"", "<a>; b=\""),
      (" a", "<a>; rel=\""), ("; rel=a", "<a>"), ("&a=b", "<?"), ("; \u{301}", "<a>"), ("a", "<a>; "), ("9", "a="),
      ("a=1;", ""),
    ])
  func links(piece: String, start: String) throws {
    let names = try ["Link", "RateLimit"].map { try #require(HTTPField.Name($0)) }
    #expect(
      LinearTime.holds(for: LinearTime.repeating(piece, after: start)) { text in
        let fields: HTTPFields = [names[0]: text, names[1]: text]
        _ = WebLink.all(in: fields)
        _ = ServerRateLimit(fields)
      })
  }

  @Test("Parsing cache directives takes linear time", arguments: [",", "no-store ,", " ", "\u{301},", "a="])
  func cacheControl(piece: String) {
    #expect(
      LinearTime.holds(for: LinearTime.repeating(piece)) { text in
        _ = ResponseProgress(HTTPResponse(status: .ok, headerFields: [.cacheControl: text]), received: 0)
      })
  }

  @Test(
    "Parsing base URLs and origins takes linear time",
    arguments: [
      ("/", "https://a.example"), ("a", "https://"), (".", "https://"), ("é", "https://"), (":", "https://["),
      ("%2e", "https://a.example/"), ("%25", "https://a.example/"), ("./", "https://a.example/"),
      ("é/", "https://a.example/"),
      ("?", "https://a.example/"), ("@", "https://"), ("//", "https:"), ("a", ""), ("0", "https://a:"),
      ("\u{301}", "https://a/"),
    ])
  func baseURLs(piece: String, start: String) {
    #expect(
      LinearTime.holds(for: LinearTime.repeating(piece, after: start)) { text in
        _ = BaseURL(stringLiteral: text)
        _ = Origin(scheme: "https", authority: text)
      })
  }

  @Test(
    "Checking paths and path values takes linear time",
    arguments: ["%2e", "%25", "../", "..\\", "é", "%", ".", ";", "a/", "%252e%252e%252f"])
  func paths(piece: String) {
    #expect(
      LinearTime.holds(for: LinearTime.repeating(piece)) { text in
        _ = RequestPath(stringLiteral: "/" + text).fault
        _ = ("/a/\(text)" as RequestPath).fault
      })
  }

  @Test("Masking targets takes linear time", arguments: ["?", "&", "=", "a=b&", "%41", "&\u{301}="])
  func redaction(piece: String) {
    #expect(LinearTime.holds(for: LinearTime.repeating(piece, after: "/?")) { _ = Redaction().target($0) })
  }

  @Test("Quoting shell words takes linear time", arguments: ["'", "'\u{301}", "a", "\0", "é"])
  func shellWords(piece: String) {
    #expect(LinearTime.holds(for: LinearTime.repeating(piece)) { _ = ShellWord.quoted($0) })
  }
}
