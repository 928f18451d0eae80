import ApusCore
import Foundation
import HTTPTypes
import Testing

/// `curl(redaction:options:)` as parsed by a shell, compared byte by byte.
@Suite("curl commands parsed by a shell")
struct CurlTests {
  private func message(_ content: MessageContent = .empty, target: String = "/a") -> RequestMessage {
    RequestMessage(
      head: HTTPRequest(method: .post, scheme: "https", authority: "h.example", path: target), content: content)
  }

  /// The words that `/bin/sh` passes to a program.
  private func words(of line: String) throws -> [String] {
    let process = Process()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", "set -- \(line); for word do printf '%s\\0' \"$word\"; done"]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let bytes = try #require(try pipe.fileHandleForReading.readToEnd())
    process.waitUntilExit()
    return bytes.split(separator: 0, omittingEmptySubsequences: false).dropLast().map {
      String(decoding: $0, as: UTF8.self)
    }
  }

  /// The bytes of words, because equal strings may have different bytes.
  private func bytes(_ words: [String]) -> [[UInt8]] { words.map { Array($0.utf8) } }

  static let hostile = [
    "'", "'\u{301}; echo injected; '\u{301}", "'\u{20DD}$(echo injected)", "'\u{200D}`echo injected`",
    "$(echo injected)",
    "`echo injected`", "a\nb", "\n", "-rf", "--config", "@/etc/passwd", "~root", "~", "\\", "\\'", "a\\\u{301}'b", "\"",
    "!!", "*", "{a,b}", "[1-9]", "#", "&", ";", "|", "\u{1B}]0;x\u{7}", "\u{301}", "'\r\n'", "ü'ü", "",
  ]

  @Test("Every hostile text is quoted as one shell word", arguments: hostile)
  func option(text: String) throws {
    let words = try words(of: message().curl(options: [text, "last"]))
    #expect(bytes(Array(words.suffix(2))) == bytes([text, "last"]))
  }

  @Test("A shell passes the bytes of the content to curl unchanged", arguments: hostile)
  func content(text: String) throws {
    let words = try words(of: message(.bytes(Data(text.utf8))).curl(redaction: nil))
    #expect(bytes(Array(words.suffix(2))) == bytes(["--data-raw", text]))
  }

  @Test(
    "A field value in a curl command cannot escape its quotes",
    arguments: ["'\u{301};id;'\u{301}", "\"'\u{301}$(id)\""])
  func field(value: String) throws {
    var message = message()
    message.head.headerFields[.ifNoneMatch] = value
    let words = try words(of: message.curl())
    #expect(bytes(Array(words.suffix(2))) == bytes(["--header", "If-None-Match: \(value)"]))
  }

  @Test("A path in a curl command cannot escape its quotes")
  func target() throws {
    let words = try words(of: message(target: "/'\u{301};id;'\u{301}").curl())
    #expect(bytes(Array(words.suffix(2))) == bytes(["https://h.example/'\u{301};id;'\u{301}", "--globoff"]))
  }

  @Test(
    "A curl command for binary content reads it from standard input",
    arguments: [[0x61, 0, 0x62], [0x27, 0xFF, 0x80]])
  func binary(content: [UInt8]) {
    #expect(message(.bytes(Data(content))).curl(redaction: nil).hasSuffix("--data-binary @-"))
    #expect(message(.bytes(Data(content))).curl().hasSuffix("--data-raw '██'"))
  }

  @Test("NUL is replaced in shell words")
  func nul() throws {
    let words = try words(of: message().curl(options: ["a\0'b"]))
    #expect(words.last == "a\u{FFFD}'b")
  }

  @Test("curl sends a field with an empty value")
  func emptyField() throws {
    var message = message()
    message.head.headerFields[.accept] = ""
    #expect(message.curl().hasSuffix("--header 'Accept;'"))
  }

  @Test("curl does not expand braces and brackets in the URL")
  func globbing() {
    #expect(message(target: "/{a,b}[1-9]").curl().hasSuffix("'https://h.example/{a,b}[1-9]' --globoff"))
  }
}
