import ApusTestServer
import Foundation
import Testing

/// Content of requests and responses of `apus send`.
@Suite("Content of apus send", .timeLimit(.minutes(3)))
final class ContentTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "content-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  private func path(_ name: String) -> String { folder.appending(path: name).path }

  private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()) ?? [] }

  @Test(
    "The content type depends on the option",
    arguments: [
      (["a=1", "b:=[2]"], #"{"a":"1","b":[2]}"#, "application/json"),
      (["--json", "[1 ]"], "[1 ]", "application/json"),
      (["--form", "a=1 &", "--form", "b=ü"], "a=1+%26&b=%C3%BC", "application/x-www-form-urlencoded"),
      (["--data", "text"], "text", "text/plain; charset=utf-8"),
      (["--data", "-"], "from the input", "application/octet-stream"),
      (["--json", "-", "Content-Type:a/b"], "from the input", "a/b"),
    ])
  func kinds(arguments: [String], content: String, type: String) async throws {
    try await TestServer.with { _ in
      .text("done")
    } body: { server in
      let run = try await ToolRun.of(
        ["send", server.origin] + arguments, .init(input: Data("from the input".utf8)))
      #expect(run.status == 0, "\(run.error)")
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.method == "POST")
      #expect(exchange.text == content)
      #expect(exchange.field("Content-Type")?.lowercased() == type)
    }
  }

  @Test("A large file is uploaded completely, with its length")
  func upload() async throws {
    let all = generatedBytes(5_000_000)
    try Data(all).write(to: folder.appending(path: "large"))
    try await TestServer.with(options: .init(contentLimit: all.count)) { _ in
      .text("done")
    } body: { server in
      let run = try await ToolRun.of("send", "put", server.origin, "--data", "@" + path("large"))
      #expect(run.status == 0)
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.content == all && exchange.contentLength == all.count)
      #expect(exchange.field("Content-Length") == "5000000")
    }
  }

  @Test("A named pipe is streamed")
  func fifo() async throws {
    try #require(mkfifo(path("pipe"), 0o600) == 0)
    try await TestServer.with { _ in
      .text("done")
    } body: { server in
      let run = try await ToolRun.of(["send", server.origin, "--data", "@" + path("pipe")]) { [path = path("pipe")] _ in
        // Opening the pipe blocks until it has a reader, so a separate thread is needed.
        let thread = Thread { try? Data("through a pipe".utf8).write(to: URL(filePath: path)) }
        thread.start()
      }
      #expect(run.status == 0, "\(run.error)")
      #expect(server.exchanges.first?.text == "through a pipe")
    }
  }

  @Test("A large response is stored completely, with no other files left")
  func download() async throws {
    try await TestServer.with { _ in
      .generated(5_000_000)
    } body: { server in
      let run = try await ToolRun.of("send", server.origin, "-o", path("out"))
      #expect(run.status == 0)
      #expect(run.text == "" && run.error == "")
      let got = try Data(contentsOf: folder.appending(path: "out"))
      #expect(got == Data(generatedBytes(5_000_000)))
      #expect(names == ["out"])
    }
  }

  @Test(
    "An existing file is kept if the response is a rejection or is interrupted",
    arguments: [
      (Reply.text("refused", status: 500), Int32(22)), (Reply.generated(100_000).closing(at: .content(50_000)), 56),
    ] as [(Reply, Int32)])
  func untouched(reply: Reply, status: Int32) async throws {
    try Data("old".utf8).write(to: folder.appending(path: "out"))
    try await TestServer.with { _ in
      reply
    } body: { server in
      let run = try await ToolRun.of("send", server.origin, "-o", path("out"))
      #expect(run.status == status)
      #expect(run.text == (status == 22 ? "refused" : ""))
      #expect(try String(contentsOfFile: path("out"), encoding: .utf8) == "old")
      #expect(names == ["out"])
    }
  }

  /// The text `hello`, compressed.
  private static let compressed: [UInt8] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
  ]

  @Test(
    "A file gets the server's bytes: no coding is accepted, unless the command line specifies it",
    arguments: [
      ([], "identity", false, true), (["--compressed"], "gzip, deflate", true, false),
      (["Accept-Encoding:gzip"], "gzip", false, false),
    ] as [([String], String, Bool, Bool)])
  func codings(arguments: [String], accepted: String, isDecoded: Bool, hasMessage: Bool) async throws {
    try await TestServer.with { _ in
      .status(200, fields: ["Content-Encoding": "gzip"], content: Self.compressed)
    } body: { server in
      let run = try await ToolRun.of(["send", server.origin, "-o", path("out")] + arguments)
      #expect(run.status == 0)
      #expect(
        run.error
          == (hasMessage ? "apus: The file was saved as the server sent it, with the content coding gzip.\n" : ""))
      let bytes = try Data(contentsOf: folder.appending(path: "out"))
      #expect(bytes == (isDecoded ? Data("hello".utf8) : Data(Self.compressed)))
      #expect(server.exchanges.first?.field("Accept-Encoding") == accepted)
      // Standard output receives decoded content, whatever the coding.
      #expect(try await ToolRun.of("send", server.origin).text == "hello")
    }
  }

  @Test("Content in an unrequested coding is written unchanged, and a message states the coding")
  func foreignCoding() async throws {
    let coded = Array("not decoded".utf8)
    try await TestServer.with { _ in
      .status(200, fields: ["Content-Encoding": "br"], content: coded)
    } body: { server in
      let run = try await ToolRun.of("send", server.origin)
      #expect(run.status == 0 && run.text == "not decoded")
      #expect(run.error == "apus: The content was written as the server sent it, with the content coding br.\n")
      let saved = try await ToolRun.of("send", server.origin, "-o", path("out"), "--compressed")
      #expect(saved.status == 0)
      #expect(saved.error == "apus: The file was saved as the server sent it, with the content coding br.\n")
      #expect(try await ToolRun.of("send", server.origin, "Accept-Encoding:br").error == "")
    }
  }

  @Test("A link is not followed, and no request is sent")
  func link() async throws {
    try FileManager.default.createSymbolicLink(atPath: path("link"), withDestinationPath: path("target"))
    try await TestServer.with { _ in
      .text("never")
    } body: { server in
      let run = try await ToolRun.of("send", server.origin, "-o", path("link"))
      #expect(run.status == 23)
      #expect(run.error == "apus: Cannot write to \(path("link")): it is a link; use the name of the file itself.\n")
      #expect(server.exchanges.isEmpty && names == ["link"])
    }
  }

  @Test("Output to a path that links to a pipe is written to the pipe")
  func pipe() async throws {
    try await TestServer.with { _ in
      .text("through a pipe")
    } body: { server in
      let output = try PipeEnds()
      let run = try await ToolRun.of(["send", server.origin, "-o", "/dev/stdout"], .init(output: output.write)) { _ in
        #expect(await output.receive() == "through a pipe")
      }
      #expect(run.status == 0, "\(run.error)")
    }
  }

  @Test("A closed output ends the tool without a message")
  func brokenPipe() async throws {
    try await TestServer.with { _ in
      .generated(50_000_000)
    } body: { server in
      let output = try PipeEnds()
      output.closeReadEnd()
      let run = try await ToolRun.of(["send", server.origin], .init(output: output.write))
      #expect(run.isOrderly)
      #expect(run.status == 23)
      #expect(run.error == "")
    }
  }
}
