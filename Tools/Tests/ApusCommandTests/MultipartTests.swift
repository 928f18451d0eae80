import ApusTestServer
import Foundation
import Testing

/// `apus send --multipart` and `apus upload`, run as a process.
@Suite("Files in requests", .timeLimit(.minutes(3)))
struct MultipartTests {
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder()
  }

  /// Splits multipart content at its boundary.
  private func parts(of exchange: RecordedExchange) throws -> [String] {
    let type = try #require(exchange.field("Content-Type"))
    #expect(type.hasPrefix("multipart/form-data; boundary="))
    let boundary = "--" + type.dropFirst("multipart/form-data; boundary=".count)
    let pieces = exchange.text.components(separatedBy: boundary)
    #expect(pieces.first == "" && pieces.last == "--\r\n")
    return pieces.dropFirst().dropLast().map { String($0.dropFirst().dropLast()) }
  }

  @Test("Texts, files and standard input become parts in order")
  func parts() async throws {
    try folder.write("PNG".utf8, to: "a;b.png")
    try folder.write("plain".utf8, to: "notes.txt")
    try await TestServer.with { _ in
      .text("done")
    } body: { server in
      let run = try await ToolRun.of(
        [
          "send", server.origin, "--multipart", "owner=7;type=x", "--multipart",
          "avatar=@\"\(folder.path("a;b.png"))\"", "--multipart",
          "notes=@\(folder.path("notes.txt"));type=text/csv;filename=n.csv", "--multipart", "rest=@-;type=a/b",
        ], .init(input: Data("from the input".utf8)))
      #expect(run.status == 0, "\(run.error)")
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.method == "POST")
      #expect(
        try parts(of: exchange) == [
          "Content-Disposition: form-data; name=\"owner\"\r\n\r\n7;type=x",
          "Content-Disposition: form-data; name=\"avatar\"; filename=\"a;b.png\"\r\n"
            + "Content-Type: image/png\r\n\r\nPNG",
          "Content-Disposition: form-data; name=\"notes\"; filename=\"n.csv\"\r\n"
            + "Content-Type: text/csv\r\n\r\nplain",
          "Content-Disposition: form-data; name=\"rest\"; filename=\"-\"\r\nContent-Type: a/b\r\n\r\nfrom the input",
        ])
    }
  }

  @Test("A missing file is reported before a request is sent")
  func missing() async throws {
    try await TestServer.with { _ in
      .text("done")
    } body: { server in
      for arguments in [
        ["send", server.origin, "--multipart", "a=@\(folder.path("none"))"],
        ["upload", folder.path("none"), server.origin],
      ] {
        let run = try await ToolRun.of(arguments)
        #expect(run.status == 26)
        #expect(run.error == "apus: Cannot read \(folder.path("none")): no such file or directory.\n")
      }
      #expect(server.exchanges.isEmpty)
    }
  }

  @Test("An upload sends the file with PUT, its length and its media type, and prints the response")
  func upload() async throws {
    let bytes = generatedBytes(3_000_000)
    try folder.write(bytes, to: "film.mp4")
    try await TestServer.with(options: .init(contentLimit: bytes.count)) { _ in
      .json(#"{"id":7}"#, status: 201)
    } body: { server in
      let run = try await ToolRun.of("upload", folder.path("film.mp4"), server.origin + "/films", "-H", "X-A: 1")
      #expect(run.status == 0, "\(run.error)")
      #expect(run.text == #"{"id":7}"#)
      #expect(run.error == "")
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.method == "PUT" && exchange.target == "/films")
      #expect(exchange.content == bytes && exchange.contentLength == bytes.count)
      #expect(exchange.field("Content-Length") == "3000000")
      #expect(exchange.field("Content-Type") == "video/mp4" && exchange.field("X-A") == "1")
    }
  }

  @Test("An upload of standard input is streamed, with the method and media type of its options")
  func input() async throws {
    try await TestServer.with { _ in
      .text("no", status: 403)
    } body: { server in
      let run = try await ToolRun.of(
        "upload", "-", server.origin, "--method", "post", "--type", "text/csv", input: "a,b")
      #expect(run.status == 22)
      #expect(run.text == "no")
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.method == "POST" && exchange.text == "a,b")
      #expect(exchange.field("Content-Type") == "text/csv")
    }
  }
}
