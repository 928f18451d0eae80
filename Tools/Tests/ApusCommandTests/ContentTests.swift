import ApusTestServer
import Foundation
import Testing

/// What `apus send` sends as content, and where it puts the content that comes.
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
    "content has the type that goes with how it was written",
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
      #expect(exchange.fields["Content-Type"]?.lowercased() == type)
    }
  }

  @Test("a large file arrives whole, with its length")
  func upload() async throws {
    let all = ContentPattern.counting.bytes(0..<5_000_000)
    try Data(all).write(to: folder.appending(path: "large"))
    try await TestServer.with { _ in
      .text("done")
    } body: { server in
      let run = try await ToolRun.of("send", "put", server.origin, "--data", "@" + path("large"))
      #expect(run.status == 0)
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.digest == ContentDigest(of: all))
      #expect(exchange.fields["Content-Length"] == "5000000")
    }
  }

  @Test("a pipe with a name is sent as it is read")
  func fifo() async throws {
    try #require(mkfifo(path("pipe"), 0o600) == 0)
    try await TestServer.with { _ in
      .text("done")
    } body: { server in
      let run = try await ToolRun.of(["send", server.origin, "--data", "@" + path("pipe")]) { [path = path("pipe")] _ in
        // Opening waits for the reader, so not on a thread of tasks.
        let thread = Thread { try? Data("through a pipe".utf8).write(to: URL(filePath: path)) }
        thread.start()
      }
      #expect(run.status == 0, "\(run.error)")
      #expect(server.exchanges.first?.text == "through a pipe")
    }
  }

  @Test("a large answer arrives whole in a file, and nothing beside it")
  func download() async throws {
    try await TestServer.with { _ in
      .generated(5_000_000)
    } body: { server in
      let run = try await ToolRun.of("send", server.origin, "-o", path("out"))
      #expect(run.status == 0)
      #expect(run.text == "" && run.error == "")
      let got = try Data(contentsOf: folder.appending(path: "out"))
      #expect(ContentDigest(of: got) == ContentPattern.counting.digest(of: 5_000_000))
      #expect(names == ["out"])
    }
  }

  @Test(
    "a file stays as it was when the answer is refused or breaks off",
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

  @Test("a reader that goes away ends it quietly")
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
