import Testing

@testable import ApusTestServer

@Suite struct RequestParserTests {
  /// Returns the events for bytes fed in pieces. Adjacent content is joined, so that the splits do not matter.
  private func events(_ text: String, by size: Int) throws -> [String] {
    var parser = RequestParser()
    var events: [String] = []
    var content = ""
    let bytes = Array(text.utf8)
    for start in stride(from: 0, to: bytes.count, by: size) {
      parser.append(bytes[start..<min(start + size, bytes.count)])
      while let event = try parser.next() {
        switch event {
        case .head(let head):
          let fields = head.fields.lines.map { "\($0.name)=\($0.value)" }.joined(separator: "&")
          events.append("\(head.method) \(head.target) \(head.version) \(fields)")
        case .content(let piece):
          content += String(decoding: piece, as: UTF8.self)
        case .end(let trailers):
          events.append(content + trailers.lines.map { "|\($0)" }.joined())
          content = ""
        }
      }
    }
    return events
  }

  @Test("Requests are parsed the same however they are split", arguments: [1, 2, 7, 1000])
  func pieces(size: Int) throws {
    let text =
      "POST /a?b=%20c HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\nhello"
      + "\r\nquery * HTTP/1.1\r\nHOST:h \t\r\nTransfer-Encoding: Chunked\r\n\r\n"
      + "3;ext=1\r\nabc\r\nA \r\n0123456789\r\n0\r\nX-T: t\r\n\r\n"
      + "M-SEARCH http://x/ HTTP/1.0\r\nEmpty:\r\n\r\n"
    #expect(
      try events(text, by: size) == [
        "POST /a?b=%20c HTTP/1.1 Host=h&Content-Length=5", "hello",
        "query * HTTP/1.1 HOST=h&Transfer-Encoding=Chunked", "abc0123456789|X-T: t",
        "M-SEARCH http://x/ HTTP/1.0 Empty=", "",
      ])
  }

  @Test("Request octets that are not UTF-8 are decoded as ISO-8859-1")
  func latin1() throws {
    var parser = RequestParser()
    parser.append(Array("GET / HTTP/1.0\r\nN: ".utf8) + [0xe9] + Array("\r\n\r\n".utf8))
    let head = RequestParser.Head(method: "GET", target: "/", version: "HTTP/1.0", fields: ["N": "\u{e9}"])
    #expect(try parser.next() == .head(head))
  }

  @Test(
    "An invalid HTTP/1.1 request is refused with a reason",
    arguments: [
      ("GET /\r\n", "request line is not method, target and version"),
      ("GET  / HTTP/1.1\r\n", "request line is not method, target and version"),
      ("G(T / HTTP/1.1\r\n", "method is not a token"),
      (" / HTTP/1.1\r\n", "method is not a token"),
      ("GET  HTTP/1.1\r\n", "empty target or control character in it"),
      ("GET /\u{7f} HTTP/1.1\r\n", "empty target or control character in it"),
      ("GET / HTTP/2.0\r\n", "unknown version"),
      ("GET / HTTP/1.1\n", "line does not end in CRLF"),
      ("GET /\0 HTTP/1.1\r\n", "NUL or CR inside a line"),
      ("GET / HTTP/1.1\r\nHost h\r\n", "field line without a colon"),
      ("GET / HTTP/1.1\r\nHost : h\r\n", "field name is not a token"),
      ("GET / HTTP/1.1\r\n folded: h\r\n", "field name is not a token"),
      ("GET / HTTP/1.1\r\n\r\n", "not exactly one Host field"),
      ("GET / HTTP/1.1\r\nHost: a\r\nhost: b\r\n\r\n", "not exactly one Host field"),
      ("P / HTTP/1.0\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "unknown transfer coding"),
      (
        "P / HTTP/1.0\r\nTransfer-Encoding: chunked\r\nContent-Length: 1\r\n\r\n",
        "both Content-Length and Transfer-Encoding"
      ),
      ("P / HTTP/1.0\r\nContent-Length: -1\r\n\r\n", "Content-Length is not one number"),
      ("P / HTTP/1.0\r\nContent-Length: \r\n\r\n", "Content-Length is not one number"),
      ("P / HTTP/1.0\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", "Content-Length is not one number"),
      ("P / HTTP/1.0\r\nContent-Length: 99999999999999999999\r\n\r\n", "Content-Length is not one number"),
      ("P / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "chunk size is not a number"),
      ("P / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", "chunk size is not a number"),
      ("P / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\n", "chunk size is not a number"),
      ("P / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n", "chunk longer than its size"),
      ("\u{16}\u{3}\u{1}\u{2}\r\n", "request line is not method, target and version"),
    ])
  func malformed(text: String, reason: String) {
    #expect(throws: RequestParser.Malformed(reason: reason)) { try events(text, by: 1000) }
    #expect(throws: RequestParser.Malformed(reason: reason)) { try events(text, by: 1) }
  }

  @Test("An endless request head is refused, in one line or in many")
  func endlessHead() {
    let long = String(repeating: "a", count: RequestParser.headLimit)
    #expect(throws: RequestParser.Malformed(reason: "head too long")) { try events(long + "a", by: 1 << 16) }
    let lines = "GET / HTTP/1.1\r\n" + String(repeating: "Name: value of it\r\n", count: RequestParser.headLimit / 18)
    #expect(throws: RequestParser.Malformed(reason: "head too long")) { try events(lines, by: 1 << 16) }
  }
}
