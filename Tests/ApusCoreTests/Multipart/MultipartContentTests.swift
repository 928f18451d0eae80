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

@Suite("Multipart content") struct MultipartContentTests {
  private struct Details: Codable {
    var shape = "round"
    var size: Double = 3
  }

  private func message(_ parts: [MultipartPart], as format: MultipartFormat = .formData) async throws(CallError)
    -> RequestMessage
  {
    try await builtMessage(Request<Void>.post("/x", content: .multipart(parts, as: format, boundary: "B")))
  }

  /// Returns the multipart content as text.
  private func text(_ parts: [MultipartPart], as format: MultipartFormat = .formData) async throws -> String {
    try #require(content(of: try await message(parts, as: format)))
  }

  private func lines(_ text: String) -> String { text.replacing("\n", with: "\r\n") }

  @Test("A multipart form has a named part for each value, and only parts with a media type have Content-Type")
  func form() async throws {
    let parts: [MultipartPart] = [
      .value("owner", 7), .value("note", "é\nb"), .part("details", .json(Details())),
      .part("icon", .bytes(Data("PNG".utf8), "image/png"), fileName: "a.png"),
    ]
    #expect(
      try await text(parts)
        == lines(
          """
          --B
          Content-Disposition: form-data; name="owner"

          7
          --B
          Content-Disposition: form-data; name="note"


          """) + "é\nb"
        + lines(
          """

          --B
          Content-Disposition: form-data; name="details"
          Content-Type: application/json

          {"shape":"round","size":3}
          --B
          Content-Disposition: form-data; name="icon"; filename="a.png"
          Content-Type: image/png

          PNG
          --B--

          """))
    let head = try await message(parts).head
    #expect(head.headerFields[.contentType] == "multipart/form-data; boundary=B")
  }

  @Test(
    "Names and file names are escaped as in HTML forms",
    arguments: [
      (#"a"b"#, "a%22b", "a%22b"), ("a\nb", "a%0D%0Ab", "a%0Ab"), ("a\rb", "a%0D%0Ab", "a%0Db"),
      ("a\r\nb", "a%0D%0Ab", "a%0D%0Ab"), ("a\n\rb", "a%0D%0A%0D%0Ab", "a%0A%0Db"),
      (#"a\b%22;c=d"#, #"a\b%22;c=d"#, #"a\b%22;c=d"#), ("é😀\u{301}", "é😀\u{301}", "é😀\u{301}"), ("", "", ""),
    ])
  func names(name: String, asName: String, asFileName: String) async throws {
    let text = try await text([.part(name, .bytes(Data()), fileName: name)])
    #expect(text.contains("Content-Disposition: form-data; name=\"\(asName)\"; filename=\"\(asFileName)\"\r\n"))
  }

  @Test(
    "Part names with other control characters, and part fields with a line break, are refused",
    arguments: [
      MultipartPart.value("a\0b", 1), .part("a", .empty, fileName: "a\u{1B}b"), .value("a\u{7F}", 1),
      .part("a", .empty, fields: [RawField("X-A", "b\r\nX-B: c")]), .part("a", .empty, fields: [RawField("X A", "b")]),
      .part("a", .bytes(Data(), "text/plain\r\nX: y")), .part(.empty), .part(.empty, fileName: "a"),
    ])
  func unsendable(part: MultipartPart) async throws {
    let error = await failure { try await message([part]) }
    #expect(error?.code == .encoding && error?.requestState == .notSent)
    #expect(error?.detail.contains("part 1") == true)
  }

  @Test("The error for a part that cannot be encoded has the part's number and the coding path of the value")
  func unencodable() async throws {
    let error = await failure { try await message([.value("a", 1), .part("b", .json(Details(size: .nan)))]) }
    #expect(error?.code == .encoding && error?.codingPath == "size")
    #expect(error?.detail.hasPrefix("part 2 of the multipart content: ") == true)
    let missing = await failure { try await message([.file("a", at: "/no/such/file")]) }
    #expect(missing?.code == .encoding)
    let detail = "part 1 of the multipart content: the file /no/such/file cannot be sent: there is no such file"
    #expect(missing?.detail == detail && missing?.message.contains("/no") == false)
    let none = await failure { try await message([]) }
    #expect(none?.code == .encoding)
  }

  @Test("Multipart content in multipart content has its own boundary")
  func nested() async throws {
    let inner = RequestContent.multipart([.part(.text("x", "text/plain"))], as: .mixed, boundary: "C")
    #expect(
      try await text([.part("files", inner)])
        == lines(
          """
          --B
          Content-Disposition: form-data; name="files"
          Content-Type: multipart/mixed; boundary=C

          --C
          Content-Type: text/plain

          x
          --C--

          --B--

          """))
  }

  @Test("The media type of related parts contains the type of the first part, and parts may have fields")
  func related() async throws {
    let parts: [MultipartPart] = [
      .part(.json(["image": "cid:1"])),
      .part(.bytes(Data("PNG".utf8), "image/png"), fileName: "a.png", fields: [RawField("Content-ID", "<1>")]),
    ]
    let message = try await message(parts, as: .related)
    #expect(message.head.headerFields[.contentType] == #"multipart/related; boundary=B; type="application/json""#)
    #expect(
      content(of: message)
        == lines(
          """
          --B
          Content-Type: application/json

          {"image":"cid:1"}
          --B
          Content-Disposition: attachment; filename="a.png"
          Content-Type: image/png
          Content-ID: <1>

          PNG
          --B--

          """))
    #expect(try await self.message(parts, as: .mixed).head.headerFields[.contentType] == "multipart/mixed; boundary=B")
  }

  @Test("Multipart boundaries are random, valid and equal in all attempts of a request")
  func boundaries() async throws {
    var seen: Set<String> = []
    for _ in 0..<100 {
      let request = Request<Void>.post("/x", content: .multipart([.value("a", 1)]))
      let message = try await builtMessage(request)
      let type = MediaType(try #require(message.head.headerFields[.contentType]))
      let boundary = try #require(type.parameter("boundary"))
      #expect(boundary.utf8.count == 37 && boundary.utf8.allSatisfy(ByteSet.unreserved.contains))
      #expect(content(of: message)?.hasPrefix("--\(boundary)\r\n") == true)
      #expect(content(of: message)?.hasSuffix("\r\n--\(boundary)--\r\n") == true)
      #expect(try await builtMessage(request).head == message.head)
      seen.insert(boundary)
    }
    #expect(seen.count == 100)
  }

  @Test(
    "Replacing Content-Type of multipart content, which would remove the boundary, fails the call",
    arguments: ["Content-Type", "content-type"])
  func removedBoundary(name: String) async throws {
    let request = Request<Void>.post("/x", content: .multipart([.value("a", 1)]))
    for value in ["multipart/form-data", "application/json", "multipart/form-data; boundary=other"] {
      let error = await failure { try await builtMessage(request.field(name, value)) }
      #expect(error?.code == .invalidRequest)
      #expect(error?.detail.contains("boundary") == true)
    }
    let type = try #require(try await builtMessage(request).head.headerFields[.contentType])
    #expect(try await builtMessage(request.field(name, type)).head.headerFields[.contentType] == type)
  }

  @Test(
    "Multipart content with files and streams is sent in pieces; all parts determine its length and replayability")
  func pieces() async throws {
    let path = FileManager.default.temporaryDirectory.path + "/apus-\(UUID().uuidString).jpeg"
    try Data("JPEG".utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let file = MultipartPart.file("photo", at: path)
    let whole = try await message([.value("a", 1), file]).content
    guard case .joined(let contents) = whole, contents.count == 3, case .file(let sent) = contents[1] else {
      return #expect(Bool(false), "not joined")
    }
    #expect(sent.path == path && whole.isReplayable)
    let stub = StubTransport()
    stub.onAny(reply: .status(200))
    let api = Client(environment: Environment(baseURL: "https://api.example.com"), transport: stub)
    try await api.send(.post("/x", content: RequestContent(nil) { _ in whole }))
    let bytes = try #require(stub.exchanges.first).content
    #expect(Int64(bytes.count) == whole.length)
    let name = path.split(separator: "/").last ?? ""
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(text.contains("filename=\"\(name)\"\r\nContent-Type: image/jpeg\r\n\r\nJPEG\r\n--B--"))

    func stream(_ length: Int64?, isReplayable: Bool) async throws -> MessageContent {
      let stream = ContentStream(length: length, isReplayable: isReplayable) { { nil } }
      return try await message([file, .part("s", .stream(stream))]).content
    }
    #expect(try await stream(5, isReplayable: true).length != nil)
    #expect(try await stream(nil, isReplayable: true).length == nil)
    #expect(try await stream(nil, isReplayable: true).isReplayable)
    #expect(try await stream(5, isReplayable: false).isReplayable == false)
  }
}

@Suite("Media types by file extension") struct MediaTypeFileTests {
  @Test(
    "The file extension, ignoring case, determines the media type",
    arguments: [
      ("a.png", "image/png"), ("/b.c/photo.JPEG", "image/jpeg"), ("x.tar.gz", "application/gzip"),
      ("m.MP4", "video/mp4"), ("a.json", "application/json"), ("a", "application/octet-stream"),
      (".png", "application/octet-stream"), ("/b.png/a", "application/octet-stream"), ("", "application/octet-stream"),
      ("a.", "application/octet-stream"), ("a.unknown", "application/octet-stream"),
    ])
  func types(path: String, type: String) {
    #expect(MediaType(forFile: path).description == type)
  }
}
