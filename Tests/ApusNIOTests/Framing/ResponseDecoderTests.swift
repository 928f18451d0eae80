import HTTPTypes
import NIOCore
import Testing

@testable import ApusNIO

@Suite("Response decoder")
struct ResponseDecoderTests {
  @Test("Status, reason, fields and content are decoded as written")
  func plain() {
    let decoded = Decoded(
      answer("Content-Type: text/plain", "x-trace:  a b\t", "Content-Length: 5", content: "hello"))
    #expect(decoded.status == 200)
    #expect(decoded.reason == "OK")
    #expect(decoded.fields == ["Content-Type=text/plain", "x-trace=a b", "Content-Length=5"])
    #expect(decoded.framing == .length(5))
    #expect(decoded.text == "hello")
    #expect(decoded.isComplete && decoded.canReuse && decoded.error == nil)
  }

  @Test(
    "The spelling of field names is preserved, and names match case-insensitively",
    arguments: ["content-length: 2", "CONTENT-LENGTH: 2", "Content-Length: 2", "cOnTeNt-LeNgTh:2"])
  func spelling(line: String) throws {
    let decoded = Decoded(answer(line, content: "hi"))
    #expect(decoded.text == "hi")
    let name = try #require(decoded.fields.first?.split(separator: "=").first)
    #expect(line.hasPrefix(name))
  }

  @Test(
    "A reason phrase may be missing, empty, long or not ASCII",
    arguments: [("", ""), (" ", ""), (" Very  well\t", "Very  well\t"), (" ça va", "ça va")])
  func reasons(written: String, read: String) {
    let decoded = Decoded("HTTP/1.1 200\(written)\r\nContent-Length: 0\r\n\r\n")
    #expect(decoded.reason == read)
    #expect(decoded.isComplete)
  }

  @Test("A reason phrase that is not UTF-8 is decoded as ISO 8859-1")
  func latinReason() {
    let decoded = Decoded(Array("HTTP/1.1 200 ".utf8) + [0xE7] + Array("\r\nContent-Length: 0\r\n\r\n".utf8))
    #expect(decoded.reason == "ç")
  }

  @Test("The bytes of a field value that is not UTF-8 are preserved")
  func rawValue() throws {
    var buffer = ByteBuffer(bytes: Array("HTTP/1.1 200 OK\r\nx-raw: a".utf8) + [0xFF] + Array("b\r\n\r\n".utf8))
    var decoder = ResponseDecoder()
    decoder.expectResponse(to: .get)
    guard case .head(let head, _) = try decoder.next(from: &buffer) else {
      Issue.record("no head")
      return
    }
    let field = try #require(head.headerFields.first)
    #expect(field.withUnsafeBytesOfValue { Array($0) } == [UInt8(ascii: "a"), 0xFF, UInt8(ascii: "b")])
  }

  @Test("The number and order of repeated fields are preserved")
  func repeatedFields() {
    let decoded = Decoded(answer("Set-Cookie: a=1", "Vary: x", "Set-Cookie: b=2", "Content-Length: 0"))
    #expect(decoded.fields == ["Set-Cookie=a=1", "Vary=x", "Set-Cookie=b=2", "Content-Length=0"])
  }

  @Test("Repeated fields that do not concern framing are kept, even fields that the field type's parser rejects")
  func repeatedOnes() {
    let decoded = Decoded(answer("Location: /a", "Location: /b", "Content-Disposition: x", "Content-Length: 0"))
    #expect(decoded.fields == ["Location=/a", "Location=/b", "Content-Disposition=x", "Content-Length=0"])
  }

  @Test(
    "Equal Content-Length values are treated as one value, and become one field",
    arguments: [["Content-Length: 5, 5"], ["Content-Length: 5", "content-length: 5"], ["Content-Length: 5 ,\t05,5"]])
  func equalLengths(lines: [String]) {
    let decoded = Decoded("HTTP/1.1 200 OK\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\nhello")
    #expect(decoded.fields == ["Content-Length=5"])
    #expect(decoded.text == "hello")
    #expect(decoded.isComplete && decoded.canReuse)
  }

  @Test("Chunks are joined, and their extensions are ignored")
  func chunks() {
    let decoded = Decoded(chunked("5;a;b=c ; d = \"e;\\\"\t\"\r\nhello\r\n00B\r\n, wonderful\r\n0;x\r\n\r\n"))
    #expect(decoded.framing == .chunked)
    #expect(decoded.text == "hello, wonderful")
    #expect(decoded.isComplete && decoded.canReuse && decoded.error == nil)
  }

  @Test("Trailers are returned at the end, as written")
  func trailers() {
    let decoded = Decoded(
      chunked("1\r\na\r\n0\r\nX-Digest: abc\r\nSet-Cookie: evil=1\r\nContent-Length: 9\r\nx-last:\r\n\r\n"))
    #expect(decoded.trailers == ["X-Digest=abc", "Set-Cookie=evil=1", "Content-Length=9", "x-last="])
    #expect(decoded.isComplete && decoded.canReuse)
  }

  @Test("Content without a length ends when the connection closes, and the connection is not reused")
  func untilClose() {
    let decoded = Decoded(answer("Connection: keep-alive", content: "all of it"), end: .clean)
    #expect(decoded.framing == .untilClose)
    #expect(decoded.text == "all of it")
    #expect(decoded.isComplete && !decoded.canReuse)
  }

  @Test("Interim responses are returned before the final response")
  func interim() {
    let decoded = Decoded(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + answer("Content-Length: 0"))
    #expect(decoded.interim == [100, 103])
    #expect(decoded.status == 200)
    #expect(decoded.isComplete && decoded.canReuse)
  }

  @Test(
    "Responses whose status or method permits no content have no content, regardless of their framing fields",
    arguments: [
      (HTTPRequest.Method.head, "200 OK", "Content-Length: 99", true),
      (.head, "200 OK", "Transfer-Encoding: chunked", true),
      (.get, "304 Not Modified", "Content-Length: 99", true),
      (.get, "204 No Content", "X: y", true),
      (.get, "204 No Content", "Content-Length: 0", true),
      (.get, "204 No Content", "Content-Length: 5", false),
      (.get, "204 No Content", "Transfer-Encoding: chunked", false),
      (.connect, "200 Connected", "X: y", false),
      (.connect, "200 Connected", "Content-Length: 5", false),
      (.connect, "200 Connected", "Content-Length: 5\r\nContent-Length: 6", false),
      (.connect, "200 Connected", "Content-Length: 5\r\nTransfer-Encoding: chunked", false),
      (.connect, "299 Connected", "Transfer-Encoding: gzip", false),
    ])
  func withoutContent(method: HTTPRequest.Method, status: String, field: String, canReuse: Bool) {
    let decoded = Decoded("HTTP/1.1 \(status)\r\n\(field)\r\n\r\n", to: method)
    #expect(decoded.framing == ResponseFraming.none)
    #expect(decoded.isComplete && decoded.content.isEmpty && decoded.error == nil)
    #expect(decoded.canReuse == canReuse)
  }

  @Test("A rejection of CONNECT is a response like any other")
  func refusedTunnel() {
    let decoded = Decoded("HTTP/1.1 407 No\r\nContent-Length: 2\r\n\r\nno", to: .connect)
    #expect(decoded.text == "no")
    #expect(decoded.canReuse)
  }

  @Test(
    "Version and Connection options determine whether a connection persists",
    arguments: [
      ("1.1", "X: y", true), ("1.1", "Connection: close", false), ("1.1", "connection: Foo , CLOSE", false),
      ("1.1", "Connection: closed", true), ("1.0", "X: y", false), ("1.0", "Connection: Keep-Alive", true),
      ("1.0", "Connection: keep-alive, close", false), ("1.7", "X: y", true),
    ])
  func persistence(version: String, field: String, canReuse: Bool) {
    let decoded = Decoded("HTTP/\(version) 200 OK\r\n\(field)\r\nContent-Length: 0\r\n\r\n")
    #expect(decoded.isComplete)
    #expect(decoded.canReuse == canReuse)
  }

  @Test("A decoder reads one response after the other")
  func reuse() throws {
    var decoder = ResponseDecoder()
    for length in 0..<3 {
      decoder.expectResponse(to: .get)
      var buffer = ByteBuffer(
        string: answer("Content-Length: \(length)", content: String(repeating: "x", count: length)))
      var last: DecodedPart?
      while let part = try decoder.next(from: &buffer) { last = part }
      #expect(last == .end(trailers: [:], canReuse: true))
    }
  }

  @Test("Control characters are found anywhere in a value; tabs and bytes beyond ASCII are allowed")
  func everyPlace() {
    for length in 1...20 {
      for place in 0..<length {
        for byte in [0x00, 0x01, 0x08, 0x0B, 0x1F, 0x7F, 0x09, 0x20, 0x21, 0x7E, 0x80, 0xFF] as [UInt8] {
          var value = [UInt8](repeating: UInt8(ascii: "x"), count: length)
          value[place] = byte
          let decoded = Decoded(Array("HTTP/1.1 200 OK\r\nA: ".utf8) + value + Array("\r\n\r\n".utf8))
          let isForbidden = byte == 0x7F || (byte < 0x20 && byte != 0x09)
          #expect(decoded.error == (isForbidden ? .malformedFieldValue : nil), "\(byte) at \(place) of \(length)")
        }
      }
    }
  }

  @Test("Content is a slice of the input")
  func slices() throws {
    var decoder = ResponseDecoder()
    decoder.expectResponse(to: .get)
    var buffer = ByteBuffer(string: answer("Content-Length: 5", content: "hello"))
    _ = try decoder.next(from: &buffer)
    let address = buffer.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) }
    guard case .content(let slice) = try decoder.next(from: &buffer) else {
      Issue.record("no content")
      return
    }
    #expect(slice.withUnsafeReadableBytes { UInt(bitPattern: $0.baseAddress) } == address)
  }

  @Test("A response's end that was not returned yet is returned when the connection closes")
  func endWithConnection() {
    let decoded = Decoded(answer("Content-Length: 0"), end: .clean)
    #expect(decoded.isComplete)
    #expect(decoded.error == nil)
  }

  @Test("The end of an idle connection is not an error")
  func idleEnd() throws {
    var decoder = ResponseDecoder()
    #expect(try decoder.endOfInput(cleanly: false) == nil)
  }

  @Test("Bytes without an expected response are an error, and the decoder is unusable afterwards")
  func unsolicited() {
    var decoder = ResponseDecoder()
    var buffer = ByteBuffer(string: "H")
    #expect(throws: FramingError.self) { try decoder.next(from: &buffer) }
    decoder.expectResponse(to: .get)
    var rest = ByteBuffer(string: answer("Content-Length: 0"))
    #expect(throws: FramingError.self) { try decoder.next(from: &rest) }
  }

  @Test("Bytes after a response prevent reuse of its connection")
  func surplus() {
    let decoded = Decoded(answer("Content-Length: 2", content: "hi!"))
    #expect(decoded.text == "hi")
    #expect(decoded.isComplete && !decoded.canReuse)
    #expect(decoded.error == .unsolicited)
  }

  @Test("A second response cannot be expected during the first")
  func outOfOrder() {
    var decoder = ResponseDecoder()
    decoder.expectResponse(to: .get)
    decoder.expectResponse(to: .get)
    var buffer = ByteBuffer(string: answer("Content-Length: 0"))
    #expect { try decoder.next(from: &buffer) } throws: { ($0 as? FramingError)?.kind == .outOfOrder }
  }
}
