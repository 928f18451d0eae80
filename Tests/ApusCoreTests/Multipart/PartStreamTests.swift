import ApusTesting
import HTTPTypes
import TestSupport
import Testing

@testable import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Multipart content in responses") struct PartStreamTests {
  /// A case: the content with `\n` for CRLF, and the parts, each as its fields and its content.
  struct Case: Sendable {
    var content: String
    var parts: [String]

    init(_ content: String, _ parts: [String]) {
      (self.content, self.parts) = (content, parts)
    }
  }

  private static let cases: [Case] = [
    Case("--B\n\na\n--B--", ["|a"]),
    Case("--B\n\na\n--B--\n", ["|a"]),
    Case("\n--B\n\na\n--B--", ["|a"]),
    Case("preamble\n-B\n--B\nX-A: 1\n\na\n--B--\nepilogue\n--B\n\nb", ["X-A: 1|a"]),
    Case("--B\n\n\n--B\n\n\n--B--", ["|", "|"]),
    Case("--B\nX-A: 1\n\n--B--", ["X-A: 1|"]),
    Case("--B \t\n\na\n--B--", ["|a"]),
    Case("--B\nX-A:1 \nx-b:  2\n y\n\na\n\n--\n--C\n-B\n--B--", ["X-A: 1;x-b: 2 y|a\r\n\r\n--\r\n--C\r\n-B"]),
    Case("--B\n\na\r--B\n--B--", ["|a\r--B"]),
    Case("--B\n\n\r\r\n--B--", ["|\r"]),
    Case("--B--", []),
    Case("--B--\nrest", []),
  ]

  private static func bytes(_ text: String) -> Data { Data(text.replacing("\n", with: "\r\n").utf8) }

  private func parts(_ pieces: [Data], boundary: String = "B", limit: Int = 1000) throws -> [String] {
    var parser = try MultipartParser(boundary: boundary, limit: limit)
    var parts: [String] = []
    func take() throws {
      while let part = try parser.next() {
        let fields = part.fields.map { "\($0.name.rawName): \($0.value)" }.joined(separator: ";")
        parts.append("\(fields)|\(part.text)")
      }
    }
    for piece in pieces {
      parser.feed(piece)
      try take()
    }
    parser.finish()
    try take()
    return parts
  }

  @Test(
    "Multipart content that is split anywhere or arrives byte by byte is parsed into the same parts", arguments: cases)
  func splits(_ expected: Case) throws {
    let bytes = Self.bytes(expected.content)
    #expect(try parts([bytes]) == expected.parts)
    #expect(try parts(bytes.map { Data([$0]) }) == expected.parts)
    for index in bytes.indices { #expect(try parts([bytes[..<index], bytes[index...]]) == expected.parts) }
  }

  @Test(
    "Parsing malformed multipart content fails",
    arguments: [
      ("", "the content ends before its last boundary"), ("--B\n\na", "the content ends before its last boundary"),
      ("--B\n\na\n--B", "the content ends before its last boundary"),
      ("--B\n\na\n--B-", "the content ends before its last boundary"),
      ("no boundary", "the content ends before its last boundary"),
      ("--B\n\na\n--Bx\n", "a boundary is followed by other text"),
      ("--B\nX A: 1\n\na\n--B--", "a part has a malformed field"),
      ("--B\nX-A\n\na\n--B--", "a part has a malformed field"),
      ("--B\nX-A: a\0b\n\na\n--B--", "a part has a malformed field"),
      ("--B\n\(String(repeating: "X-A: 1\n", count: 65))\na\n--B--", "a part has too many fields"),
      ("--B\nX-A: \(String(repeating: "x", count: 17_000))\n\na\n--B--", "the fields of a part are too long"),
      ("--B\nX-A: \(String(repeating: "x", count: 17_000))", "the fields of a part are too long"),
      ("--B\(String(repeating: " ", count: 17_000))", "a boundary is followed by too much space"),
    ])
  func malformed(content: String, reason: String) {
    let bytes = Self.bytes(content)
    #expect(throws: MultipartError(reason)) { try parts([bytes]) }
    #expect(throws: MultipartError(reason)) { try parts(bytes.map { Data([$0]) }) }
  }

  @Test("A part may be as long as the limit, and a longer part fails")
  func limit() throws {
    let bytes = Self.bytes("--B\n\n12345\n--B--")
    #expect(try parts([bytes], limit: 5) == ["|12345"])
    #expect(throws: ElementTooLong(element: "a part", limit: 4)) { try parts([bytes], limit: 4) }
    #expect(throws: ElementTooLong(element: "a part", limit: 4)) {
      try parts(Array(repeating: Data("--B\r\n\r\n123456789".utf8), count: 2), limit: 4)
    }
  }

  @Test("The number of parts of multipart content is limited")
  func count() throws {
    let many = Data(String(repeating: "--B\r\n\r\n\r\n", count: 10_001).utf8) + Data("--B--".utf8)
    #expect(throws: MultipartError("the content has too many parts")) { try parts([many]) }
  }

  @Test(
    "Multipart content with an invalid boundary is refused",
    arguments: [nil, "", String(repeating: "b", count: 71), "a\nb", "é"])
  func boundaries(boundary: String?) {
    #expect(throws: MultipartError("the media type has no valid boundary")) {
      try MultipartParser(boundary: boundary, limit: 1)
    }
  }

  @Test("Fields, media type and JSON of a part can be read")
  func properties() throws {
    let part = ReceivedPart(
      fields: [
        .contentDisposition: #"form-data; name="a b"; filename="c;d.json""#, .contentType: "application/json",
      ], content: Data("[1]".utf8))
    #expect(part.field("content-disposition") == #"form-data; name="a b"; filename="c;d.json""#)
    #expect(part.mediaType == .json && part.field("X-A") == nil && part.field("a b") == nil)
    #expect(try part.decode([Int].self) == [1])
  }

  @Test("Parts are returned by a stream while the response arrives, and by send")
  func stream() async throws {
    let stub = StubTransport()
    let pieces = ["--B\r\n\r\n", "one\r\n-", "-B\r\nContent-Range: bytes 0-1/9\r\n\r\ntw\r\n--B--\r\n"]
    stub.onAny(reply: .pieces(pieces, fields: [.contentType: #"multipart/byteranges; boundary="B""#]))
    let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
    let request = Request<PartStream>.get("/x")
    var texts: [String] = []
    for try await part in api.stream(request) { texts.append(part.text) }
    #expect(texts == ["one", "tw"])
    let all = try await api.send(request)
    #expect(all.elements.map { $0.field("Content-Range") } == [nil, "bytes 0-1/9"])
  }

  @Test(
    "A part stream fails with decoding if its content is malformed, and with contentTooLarge for a large part")
  func failures() async throws {
    let cases: [(String?, String, CallError.Code)] = [
      (nil, "x", .decoding), ("text/plain", "x", .decoding), ("multipart/mixed", "--B--", .decoding),
      ("multipart/mixed; boundary=B", "--B\r\n\r\na", .decoding),
      ("multipart/mixed; boundary=B", "--B\r\n\r\n12345\r\n--B--", .contentTooLarge),
    ]
    for (type, content, code) in cases {
      let stub = StubTransport()
      stub.onAny(reply: .pieces([content], fields: type.map { [.contentType: $0] } ?? [:]))
      let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
      let request = Request<PartStream>.get("/x").streaming { $0.maximumElementSize = 4 }
      let error = await failure { for try await _ in api.stream(request) {} }
      #expect(error?.code == code)
      #expect(await failure { _ = try await api.send(request) }?.code == code)
    }
  }
}
