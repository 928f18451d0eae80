import ApusCore
import HTTPTypes
import TestSupport
import Testing

@testable import ApusMiddleware

/// Tests the parsers of server input with long inputs that could cause repeated scans.
@Suite("Parsers of middlewares take linear time", .serialized)
struct ParserTimeFuzzTests {
  @Test(
    "Parsing challenges takes linear time",
    arguments: [
      (",", ""), (" ", "A"), ("A ", ""), ("A b=c, ", ""), ("\"", "A b="), ("\\\"", "A b=\""), ("=", "A b"),
      ("b=c,", "A "),
      ("A,", ""), ("\u{80}", "A b="), ("a", "A "), ("=,", "A "), ("A \t=", ""),
    ])
  func challenges(piece: String, start: String) {
    #expect(
      LinearTime.holds(for: LinearTime.repeating(piece, after: start)) { text in
        _ = Challenge.all(in: [.wwwAuthenticate: text])
        // Parses many lines as well as one line.
        var parser = ChallengeParser()
        let line = Array(text.utf8.prefix(100))
        for _ in 0..<(text.utf8.count / 100) where !parser.read(line) { break }
      })
  }

  @Test(
    "Parsing Location fields takes linear time",
    arguments: ["/", "../", "%2e%2e/", "a", "%", "%41", ":", "//", "?", "#", " ", "\\", "é", "http://", "@", ", "])
  func locations(piece: String) {
    let origin = Origin(scheme: "https", host: "a.example", port: 443)
    for start in ["", "//"] {
      let make: (Int) -> [UInt8] = { Array(LinearTime.repeating(piece, after: start)($0).utf8) }
      #expect(LinearTime.holds(for: make) { _ = try? URLReference($0, relativeTo: (origin, "/a/b?c")) })
      // The maximum length of a reference, which bounds the time that a server can cause per redirect.
      let longest = Array(make(URLReference.maximumLength).prefix(URLReference.maximumLength))
      let several: (Int) -> [[UInt8]] = { Array(repeating: longest, count: $0 / 100_000) }
      #expect(
        LinearTime.holds(for: several) { all in
          for bytes in all { _ = try? URLReference(bytes, relativeTo: (origin, "/a/b?c")) }
        })
    }
  }

  @Test(
    "Processing redirect targets and Referer fields takes linear time",
    arguments: ["&", "key=", "%6bey=1&", "?", "/", "+", "\u{301}&"])
  func targets(piece: String) {
    let credentials = CredentialFields(parameters: ["key"])
    #expect(
      LinearTime.holds(for: LinearTime.repeating(piece, after: "/a?")) { text in
        _ = credentials.removed(from: text)
        var message = RequestMessage(
          head: HTTPRequest(method: .get, scheme: "https", authority: "a.example", path: "/"))
        message.head.headerFields[.referer] = "https://a.example" + text
        message.generalizeSource(to: Origin(scheme: "https", host: "b.example", port: 443))
      })
  }

  @Test(
    "Parsing Set-Cookie fields takes linear time",
    arguments: [";", "=", "a=b;", " ", "\t", "é", "; Expires=1 ", ":", "1:", "-", "Path=/;", "Domain=.;", "__Host-"])
  func cookies(piece: String) {
    for start in ["", "a=b;", "a=b; Expires="] {
      #expect(LinearTime.holds(for: LinearTime.repeating(piece, after: start)) { _ = SetCookie(Array($0.utf8)) })
    }
    #expect(LinearTime.holds(for: LinearTime.repeating(piece)) { _ = CookieDate.parse($0.utf8) })
  }

  @Test("Quoting idempotency keys takes linear time", arguments: ["\"", "\\", "\"\u{301}", "a"])
  func keys(piece: String) {
    #expect(
      LinearTime.holds(for: LinearTime.repeating(piece)) { _ = IdempotencyKey($0, isQuoted: true).rawField { 0 } })
  }
}
