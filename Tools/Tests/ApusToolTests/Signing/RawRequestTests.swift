import Apus
import Foundation
import Testing

@testable import ApusTool

@Suite("Requests written by hand")
struct RawRequestTests {
  private func message(_ text: String) throws -> RequestMessage {
    try RawRequest.message(Data(text.utf8), place: "standard input")
  }

  @Test("Lines end with LF or CRLF, and the content is unchanged", arguments: ["\n", "\r\n"])
  func lines(end: String) throws {
    let request = try message(
      ["POST /a?b=1 HTTP/1.1", "Host: h.example", "X: 1", "", "a\r\n\nb\n"].joined(separator: end))
    #expect(request.head.method == .post)
    #expect(request.target == "/a?b=1")
    #expect(request.head.authority == "h.example")
    #expect(request.head.headerFields.map(\.value) == ["1"])
    guard case .bytes(let data) = request.content else { throw Unexpected() }
    #expect(data == Data("a\r\n\nb\n".utf8))
  }

  @Test("A request without an empty line has no content")
  func noContent() throws {
    let request = try message("GET / HTTP/1.1\nHost:h")
    #expect(request.content.isEmpty)
    #expect(request.head.headerFields.isEmpty)
  }

  @Test("A target may contain spaces and UTF-8")
  func targets() throws {
    #expect(try message("GET /example space/ሴ HTTP/1.1\nHost:h").target == "/example space/ሴ")
  }

  @Test("A field may be repeated, and may have several lines")
  func fields() throws {
    let request = try message("GET / HTTP/1.1\nHost:h\nA:1\nB:x\n  y\n\tz\na:2\n")
    #expect(request.head.headerFields.map { "\($0.name.canonicalName)=\($0.value)" } == ["a=1", "b=x   y \tz", "a=2"])
  }

  @Test(
    "An invalid request is refused with its line number and the reason",
    arguments: [
      ("", "line 1: the request line is missing"),
      ("GET", "line 1: the request line does not begin with a method"),
      ("G(T / HTTP/1.1", "line 1: the request line does not begin with a method"),
      ("GET /", "line 1: the request line does not end with the version of HTTP"),
      ("GET a HTTP/1.1", "line 1: the target does not begin with a slash"),
      ("GET / HTTP/1.1\nA: 1", "line 2: the field Host is missing"),
      ("GET / HTTP/1.1\nHost: a\nHost: b", "line 3: there are two fields Host"),
      ("GET / HTTP/1.1\n A: 1", "line 2: the first field line begins with white space"),
      ("GET / HTTP/1.1\nHost", "line 2: a field line has no colon"),
      ("GET / HTTP/1.1\nA B: 1", "line 2: “A B” is not the name of a field"),
    ])
  func refusals(text: String, reason: String) {
    #expect(throws: InputError(place: "standard input", reason: reason)) { try message(text) }
  }

  private struct Unexpected: Error {}
}
