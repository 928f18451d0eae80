import HTTPTypes
import NIOCore
import Testing

@testable import ApusNIO

@Suite("Request encoder")
struct RequestEncoderTests {
  private func request(
    _ method: HTTPRequest.Method = .get, _ path: String? = "/a?b=c", authority: String? = "example.com:8080",
    fields: HTTPFields = [:]
  ) -> HTTPRequest {
    HTTPRequest(method: method, scheme: "http", authority: authority, path: path, headerFields: fields)
  }

  private func written(_ head: HTTPRequest, _ encoder: RequestEncoder = RequestEncoder()) throws -> String {
    var buffer = ByteBuffer()
    try encoder.encodeHead(head, into: &buffer)
    return String(buffer: buffer)
  }

  @Test("A head consists of request line, host, fields in order, the transport's fields and framing fields")
  func order() throws {
    let fields: HTTPFields = [.accept: "*/*", .contentType: "text/plain", .authorization: "Bearer t"]
    let text = try written(
      request(.post, fields: fields), RequestEncoder(framing: .length(1_234_567_890), adding: [.userAgent: "Apus"]))
    #expect(
      text == """
        POST /a?b=c HTTP/1.1\r\nHost: example.com:8080\r\nAccept: */*\r\nContent-Type: text/plain\r\n\
        Authorization: Bearer t\r\nUser-Agent: Apus\r\nContent-Length: 1234567890\r\n\r\n
        """)
  }

  @Test(
    "The framing field matches the framing of the content",
    arguments: [
      (RequestFraming.none, ""), (.length(0), "Content-Length: 0\r\n"), (.length(10), "Content-Length: 10\r\n"),
      (.length(.max), "Content-Length: 9223372036854775807\r\n"), (.chunked, "Transfer-Encoding: chunked\r\n"),
    ])
  func framing(framing: RequestFraming, field: String) throws {
    #expect(
      try written(request(), RequestEncoder(framing: framing))
        == "GET /a?b=c HTTP/1.1\r\nHost: example.com:8080\r\n\(field)\r\n")
  }

  @Test(
    "The target has origin, absolute or authority form as specified",
    arguments: [
      (HTTPRequest.Method.get, "/x", TargetForm.origin, "/x"), (.get, "", .origin, "/"), (.get, nil, .origin, "/"),
      (.get, "?q", .origin, "/?q"), (.options, "*", .origin, "*"), (.get, "/x", .absolute, "http://h:1/x"),
      (.get, nil, .absolute, "http://h:1/"), (.options, "*", .absolute, "http://h:1"),
      (.connect, nil, .authority, "h:1"), (.connect, "/ignored", .authority, "h:1"),
    ] as [(HTTPRequest.Method, String?, TargetForm, String)])
  func targets(method: HTTPRequest.Method, path: String?, form: TargetForm, target: String) throws {
    let text = try written(request(method, path, authority: "h:1"), RequestEncoder(form: form))
    #expect(text == "\(method) \(target) HTTP/1.1\r\nHost: h:1\r\n\r\n")
  }

  @Test(
    "A target that would break the request line is refused",
    arguments: ["/a b", "/a\r\nX: y", "/a\nb", "/a\0b", "/\u{7F}/", "/é", "/a#b", "a", "*", "http://x/"])
  func refusedTargets(path: String) {
    #expect { try written(request(.get, path)) } throws: { ($0 as? FramingError)?.kind == .invalidTarget }
  }

  @Test(
    "A missing authority, or an authority with more than host and port, is refused",
    arguments: [nil, "", "a b", "a\r\nX: y", "user@h", "h/x", "h?x", "h#x", "é", "h\0i"])
  func refusedAuthorities(authority: String?) {
    for form in [TargetForm.origin, .absolute, .authority] {
      #expect { try written(request(authority: authority), RequestEncoder(form: form)) } throws: {
        ($0 as? FramingError)?.kind == .invalidTarget
      }
    }
  }

  @Test(
    "Fields reserved for the transport are refused",
    arguments: [
      "Host", "content-length", "Transfer-Encoding", "CONNECTION", "Keep-Alive", "Upgrade", "TE", "Trailer",
      "Proxy-Connection",
    ])
  func reservedFields(name: String) throws {
    let field = HTTPField(name: try #require(HTTPField.Name(name)), value: "x")
    #expect { try written(request(fields: HTTPFields([field]))) } throws: {
      ($0 as? FramingError)?.kind == .invalidField
    }
    let isFraming = ["host", "content-length", "transfer-encoding"].contains(name.lowercased())
    let encoder = RequestEncoder(adding: HTTPFields([field]))
    if isFraming {
      #expect(throws: FramingError.self) { try written(request(), encoder) }
    } else {
      #expect(try written(request(), encoder).contains("\r\n\(name): x\r\n"))
    }
  }

  @Test("A value with a control character is refused, although the field type accepts it")
  func controlCharacters() throws {
    let name = try #require(HTTPField.Name("X-A"))
    let field = HTTPField(name: name, lenientValue: Array("a\u{1}b".utf8))
    #expect { try written(request(fields: HTTPFields([field]))) } throws: {
      ($0 as? FramingError)?.kind == .invalidField
    }
  }

  @Test("A refused head leaves the buffer unchanged")
  func refusedWritesNothing() {
    var buffer = ByteBuffer(string: "before")
    #expect(throws: FramingError.self) { try RequestEncoder().encodeHead(request(.get, "/ /"), into: &buffer) }
    #expect(String(buffer: buffer) == "before")
  }

  @Test("Chunks have hexadecimal sizes, and an empty chunk ends the content")
  func chunks() {
    var buffer = ByteBuffer()
    for count in [1, 15, 16, 255, 0x1A2B3C] {
      RequestEncoder.beginChunk(count, into: &buffer)
      RequestEncoder.endChunk(into: &buffer)
    }
    RequestEncoder.beginChunk(0, into: &buffer)
    RequestEncoder.endChunks(into: &buffer)
    #expect(String(buffer: buffer) == "1\r\n\r\nf\r\n\r\n10\r\n\r\nff\r\n\r\n1a2b3c\r\n\r\n0\r\n\r\n")
  }
}
