import ApusTesting
import HTTPTypes
import Testing

@testable import ApusCore

@Suite("Path rules") struct PathRulesTests {
  static let dotSegments = [
    ".", "..", "%2e", "%2E", "%2e%2e", "%2E%2e", ".%2e", "%2E.", "%252e", "%252e%252E", ".%252e", "%25252e",
    "%252525252e", "%2525252525252525252e", "%2%65", "%%32e", "%25%32e%2e",
  ]

  @Test("A path value that is a dot segment in any encoding is refused", arguments: dotSegments)
  func valueIsDotSegment(value: String) async {
    for path in ["/users/\(value)", "/users/\(value)/friends", "\(value)", "/\(value)/x"] as [RequestPath] {
      let error = await failure { try await target(path) }
      #expect(error?.code == .invalidRequest)
      #expect(error?.requestState == .notSent)
    }
    #expect(RequestPath(segments: ["a", value]).fault == "a path value is a dot segment")
  }

  @Test("A dot segment in literal text is refused in any encoding", arguments: dotSegments)
  func textHoldsDotSegment(segment: String) {
    for text in ["/\(segment)", "/a/\(segment)/b", "\(segment)", "\(segment)/a", "/a/\(segment)", "/a//\(segment)/"] {
      #expect(RequestPath(stringLiteral: text).fault != nil, "\(text)")
      #expect(throws: BaseURL.ParseError.self) { try BaseURL("https://example.com/" + text) }
    }
  }

  @Test("A path value that forms a dot segment with adjacent text is refused")
  func composed() {
    let (dot, code) = (".", "2e")
    #expect(("/a/.\("%2")e" as RequestPath).fault == "the path contains a dot segment")
    #expect(("/a/\("%2e")." as RequestPath).fault != nil)
    #expect(("/a/.\(dot)" as RequestPath).fault != nil)
    #expect(("/a/%\(code)/b" as RequestPath).fault != nil)
    #expect(("/a/%2\("e")" as RequestPath).fault != nil)
    #expect(("/a/\("%2")e" as RequestPath).fault == "the path contains a dot segment")
    #expect(("/a/v\(1).\(2)" as RequestPath).fault == nil)
  }

  static let detours = [
    "../x", "..\\x", "./x", "a/../b", "a\\..\\b", "a/..", "x/./", "../", "..%2Fx", "..%2fx", "%2e%2e/x", "%2e%2e%2fx",
    ".%2e%2Fx",
    "%2E.%5Cx", "..%252Fx", "%252e%252e%252fx", "..%5cx", "a%2F..%2Fb", "a%2f%2e%2e%2fb", "..;/x", "..;a=b", "a/..;x/b",
    "..%3B/x", "/..", "//../x", "../../../etc/passwd", "a%252F..", "x%25252525",
  ]

  @Test("A path value that a server might decode into a dot segment is refused", arguments: detours)
  func leadingElsewhere(value: String) async {
    let path: RequestPath = "/files/\(value)"
    #expect(path.fault?.isEmpty == false)
    #expect(RequestPath(segments: ["files", value]).fault != nil)
    let error = await failure {
      try await client(at: "https://h.example").send(Request<Void>.get(path))
    }
    #expect(error?.code == .invalidRequest && error?.requestState == .notSent)
    #expect(error?.detail == "a path value contains a dot segment" || value == "x%25252525")
  }

  @Test(
    "Literal text that a server might decode into a dot segment is refused",
    arguments: ["/a/..%2Fx", "/a/x%2f..%2fb", "/a/x%5C%2e%2e", "/..%252fx", "/a/..;/b", "/a%2F.."])
  func leadingElsewhere(text: String) {
    #expect(RequestPath(stringLiteral: text).fault == "the path contains a dot segment")
  }

  @Test(
    "Path values with harmless slashes and dots are accepted",
    arguments: [
      "a/b", "a.b/c.d", ".../x", "..a/b", "a../b", "a%2Fb", "a;..", "a/;..", ".git/config", "50%", "a/b;v=1.2", "...",
    ])
  func passing(value: String) {
    #expect(("/files/\(value)" as RequestPath).fault == nil)
  }

  @Test(
    "Path segments with dots that are not dot segments are accepted",
    arguments: ["...", ".a", "a.", "a..b", "..a", ".%2ea", "%2e%2e%2e", "%252ex", "a%2e%2e", "2e", ".git"])
  func honestDots(value: String) {
    #expect(("/\(value)/x" as RequestPath).fault == nil)
  }

  @Test(
    "A path that starts with a host or a scheme is refused",
    arguments: [
      "//evil.example", "//evil.example/x", "https://evil.example", "http://evil.example/x", "a://b", "HTTPS://x",
      "javascript://x", "/a\u{0}b", "://x", "///x",
    ])
  func elsewhere(text: String) async {
    let error = await failure { try await target(RequestPath(stringLiteral: text)) }
    #expect(error?.code == .invalidRequest)
  }

  @Test(
    "A path that contains a URL after its start is accepted",
    arguments: ["/go/https://x", "/a:b", "a:b/c", "/x//y"])
  func notElsewhere(text: String) {
    #expect(RequestPath(stringLiteral: text).fault == nil)
  }

  @Test("A path value cannot set the host", arguments: ["https://evil.example", "//evil.example", "/evil"])
  func valueNamesHost(value: String) async throws {
    let message = try await builtMessage(Request<Void>.get("\(value)"))
    #expect(message.head.authority == "api.example.com")
    #expect(message.target.hasPrefix("/"))
    #expect(!message.target.dropFirst().contains("/"))
  }

  @Test("An empty path value is refused")
  func empty() {
    #expect(("/users/\("")" as RequestPath).fault == "a path value is empty")
    #expect(("/files/\(segments: ["a", ""])" as RequestPath).fault != nil)
    #expect(RequestPath(segments: [""]).fault != nil)
  }

  @Test("Control characters are refused in path values and in literal text")
  func controls() {
    for code in [UInt8](0...0x1F) + [0x7F] {
      let character = String(Unicode.Scalar(code))
      #expect(("/a/\("x\(character)y")" as RequestPath).fault != nil)
      #expect(RequestPath(stringLiteral: "/a\(character)b").fault != nil)
      #expect(RequestPath(stringLiteral: "/a?x=\(character)b").fault != nil)
      #expect(RequestPath(stringLiteral: "/a\(character)?x").fault != nil)
    }
    #expect(("/a/\("x\r\ny")" as RequestPath).fault == "a path value contains a control character")
  }

  @Test("A fragment in a path is refused, even after a question mark or before a combining mark")
  func fragment() {
    for text in ["/a#b", "/a?x#b", "#", "/a#\u{301}"] {
      #expect(RequestPath(stringLiteral: text).fault == "the path contains a fragment")
    }
  }

  @Test(
    "A percent sign in literal text must start an escape",
    arguments: ["/100%", "/%zz", "/%2", "/a%", "/%%41", "/x?q=100%", "/x?q=%2"])
  func escapes(text: String) {
    #expect(RequestPath(stringLiteral: text).fault != nil)
  }

  @Test("A path with several faults reports the first, without quoting a value")
  func firstFault() {
    let path: RequestPath = "/\("..")/\("")/\("secret\u{0}")"
    #expect(path.fault == "a path value is a dot segment")
  }

  @Test("The fast check of paths agrees with the full check for every short path")
  func plain() {
    let alphabet: [Character] = ["/", ".", ":", "%", "a", "2", "e", "?", "é"]
    var paths: [String] = [""]
    for _ in 0..<5 {
      paths = paths.flatMap { path in [path] + alphabet.map { path + String($0) } }
      paths = Array(Set(paths))
    }
    for path in paths where PathRules.isPlain(path) {
      #expect(PathRules.reason(inPath: path) == nil && !path.contains("?"), "\(path)")
      var encoded = ""
      PercentEncoding.append(path, as: .pathText, to: &encoded)
      #expect(encoded == path)
      #expect(!path.split(separator: "/").contains { $0 == "." || $0 == ".." })
      #expect(!path.hasPrefix("//") && !path.contains("://"))
    }
  }
}
