#if os(Linux)
import Apus
import Foundation
import Testing

/// Multipart content, read by independent parsers: Python's `email`, Werkzeug and `python-multipart`.
@Suite("Multipart content, read by independent parsers", .needs(.httpbin))
struct MultipartTests {
  private struct Part: Decodable, Equatable, Sendable {
    var name: String?
    var fileName: String?
    var length: Int
    var text: String?
    var sha256: String
  }

  /// Returns the parts that a parser found. Values precede files, because Werkzeug returns them separately.
  private func parts(_ parts: [MultipartPart], by parser: String, over wire: Wire) async throws -> [Part] {
    let server = try await RealServer.httpbin.value
    return try await withClient(try server.url(), over: wire) { api in
      try await api.send(.post("/multipart/\(parser)", content: .multipart(parts)))
    }
  }

  @Test(
    "Names with quotation marks, line breaks and emoji, values, JSON and files arrive as they were sent",
    arguments: ["email", "werkzeug", "python-multipart"], Wire.allCases)
  func parsers(parser: String, wire: Wire) async throws {
    let path = FileManager.default.temporaryDirectory.path + "/apus \(UUID().uuidString) é😀.png"
    let image = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
    try image.write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let found = try await parts(
      [
        .value("owner", 7), .value("é😀", "two\r\nlines\r\n"), .value("empty", ""),
        .value("dashes", "--apus\r\n--\r\n----"),
        .file("photo", at: path), .part("b", .bytes(Data("x".utf8), "text/plain"), fileName: "a;b c.txt"),
      ], by: parser, over: wire)
    #expect(found.map(\.name) == ["owner", "é😀", "empty", "dashes", "photo", "b"])
    #expect(found.prefix(4).map(\.text) == ["7", "two\r\nlines\r\n", "", "--apus\r\n--\r\n----"])
    try #require(found.count == 6)
    #expect(found[4].fileName == path.split(separator: "/").last.map(String.init))
    #expect(found[4].length == image.count && found[5].text == "x" && found[5].fileName == "a;b c.txt")
  }

  @Test(
    "Quotation marks and line breaks in names never end a part's head",
    arguments: ["email", "werkzeug", "python-multipart"])
  func hostileNames(parser: String) async throws {
    for name in [#"a"b"#, "a\r\nX-Evil: 1\r\n\r\nb", "a\nb", #"";filename="/etc/passwd"#] {
      let found = try await parts([.value(name, "v"), .value("last", "w")], by: parser, over: .nio)
      #expect(found.map(\.text) == ["v", "w"])
      #expect(found.allSatisfy { $0.fileName == nil })
      let escaped = name.replacing("\"", with: "%22").replacing("\r\n", with: "%0D%0A").replacing("\n", with: "%0D%0A")
      // Werkzeug decodes the quotation mark.
      let name = found.first?.name?.replacing("\"", with: "%22")
      #expect(name == escaped)
    }
  }

  @Test("A stream of unknown length and a file arrive unchanged", arguments: Wire.allCases)
  func streams(wire: Wire) async throws {
    let stream = ContentStream(isReplayable: true) {
      let count = Counter()
      return { await count.next() < 40 ? Data(repeating: UInt8(ascii: "s"), count: 100_000) : nil }
    }
    let found = try await parts(
      [.value("a", "1"), .part("stream", .stream(stream), fileName: "s.bin")], by: "python-multipart", over: wire)
    #expect(found.map(\.length) == [1, 4_000_000])
  }
}

/// A counter that starts at 0.
private actor Counter {
  private var count = 0

  func next() -> Int {
    defer { count += 1 }
    return count
  }
}
#endif
