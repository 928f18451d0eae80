import ApusTestServer
import Foundation
import Testing

/// `apus download`, run as a process.
@Suite("apus download", .timeLimit(.minutes(3)))
struct DownloadTests {
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder()
  }

  @Test("A file is stored under its name, without output")
  func stored() async throws {
    let file = FileOnServer()
    try await TestServer.with {
      file.reply(to: $0)
    } body: { server in
      let run = try await ToolRun.of(
        ["download", server.origin + "/a?b=1", "-o", folder.path("out"), "-H", "X-A: 1", "--bearer", "t"])
      #expect(run.status == 0, "\(run.error)")
      #expect(run.text == "" && run.error == "")
      #expect(try folder.bytes("out") == Data(file.bytes))
      #expect(folder.names == ["out"])
      let exchange = try #require(server.exchanges.first)
      #expect(exchange.target == "/a?b=1" && exchange.field("X-A") == "1")
      #expect(exchange.field("Authorization") == "Bearer t")
    }
  }

  @Test(
    "A suggested name loses folders and leading dots, and is printed",
    arguments: [
      ("attachment; filename=\"../../etc/passwd\"", "passwd"), ("attachment; filename=.bashrc", "bashrc"),
      ("attachment; filename=\"C:\\\\x\\\\film.mp4\"", "film.mp4"), ("attachment; filename=-rf", "_-rf"),
      ("attachment; filename*=UTF-8''na%C3%AFve.txt", "naïve.txt"), ("attachment", "from url.bin"),
    ])
  func named(disposition: String, name: String) async throws {
    let file = FileOnServer(length: 10, fields: ["Content-Disposition": disposition])
    try await TestServer.with {
      file.reply(to: $0)
    } body: { server in
      let run = try await ToolRun.of(["download", server.origin + "/x/from%20url.bin"], folder.setting())
      #expect(run.status == 0, "\(run.error)")
      #expect(run.text == name + "\n")
      #expect(folder.names == [name])
      #expect(try folder.bytes(name) == Data(file.bytes))
    }
  }

  @Test("A suggested name never overwrites a file or a link")
  func taken() async throws {
    try folder.write("old".utf8, to: "film.mp4")
    try FileManager.default.createSymbolicLink(atPath: folder.path("film (2).mp4"), withDestinationPath: "nowhere")
    let file = FileOnServer(length: 10, fields: ["Content-Disposition": "inline; filename=film.mp4"])
    try await TestServer.with {
      file.reply(to: $0)
    } body: { server in
      for (target, name) in [("/x", "film (3).mp4"), ("/film.mp4", "film (4).mp4")] {
        let run = try await ToolRun.of(["download", server.origin + target], folder.setting())
        #expect(run.text == name + "\n", "\(run.error)")
      }
      #expect(folder.names == ["film (2).mp4", "film (3).mp4", "film (4).mp4", "film.mp4"])
      #expect(try folder.text("film.mp4") == "old")
    }
  }

  @Test("An existing file is refused before a request is sent, and replaced with --force")
  func existing() async throws {
    try folder.write("old".utf8, to: "out")
    let file = FileOnServer(length: 10)
    try await TestServer.with {
      file.reply(to: $0)
    } body: { server in
      let refused = try await ToolRun.of("download", server.origin, "-o", folder.path("out"))
      #expect(refused.status == 23)
      #expect(refused.error.hasPrefix("apus: There is already a file with this name. Use --force to replace it,"))
      #expect(server.exchanges.isEmpty)
      #expect(try folder.text("out") == "old")
      let forced = try await ToolRun.of("download", "--force", server.origin, "-o", folder.path("out"))
      #expect(forced.status == 0)
      #expect(try folder.bytes("out") == Data(file.bytes))
    }
  }

  @Test("An interrupted download keeps the received bytes, and --continue downloads the rest")
  func continued() async throws {
    let file = FileOnServer()
    try await TestServer.with { request in
      request.number == 0 ? file.reply(to: request).stalling(at: .content(600_000)) : file.reply(to: request)
    } body: { server in
      let arguments = ["download", server.origin, "-o", folder.path("out")]
      let interrupted = try await ToolRun.of(arguments) { process in
        try await waitWhile(folder.size("out.apus-part") == 0)
        kill(process, SIGINT)
      }
      #expect(interrupted.status == 130)
      let kept = folder.size("out.apus-part")
      #expect(
        interrupted.error
          == "apus: Interrupted. \(kept) of 1000000 bytes are kept; the same command with --continue continues.\n")
      #expect(folder.names == ["out.apus-part", "out.apus-part.json"])
      let run = try await ToolRun.of(arguments + ["--continue"])
      #expect(run.status == 0, "\(run.error)")
      #expect(try folder.bytes("out") == Data(file.bytes))
      #expect(folder.names == ["out"])
      #expect(server.exchanges.map { $0.field("Range") } == [nil, "bytes=\(kept)-"])
    }
  }

  @Test("Without --continue a download starts over")
  func startedOver() async throws {
    let file = FileOnServer()
    try await TestServer.with { request in
      request.number == 0 ? file.reply(to: request).stalling(at: .content(600_000)) : file.reply(to: request)
    } body: { server in
      let arguments = ["download", server.origin, "-o", folder.path("out")]
      _ = try await ToolRun.of(arguments) { process in
        try await waitWhile(folder.size("out.apus-part") == 0)
        kill(process, SIGTERM)
      }
      #expect(try await ToolRun.of(arguments).status == 0)
      #expect(try folder.bytes("out") == Data(file.bytes))
      #expect(server.exchanges.allSatisfy { $0.field("Range") == nil })
    }
  }

  @Test("A download is continued for the same profile only")
  func profiles() async throws {
    let file = FileOnServer()
    try await TestServer.with { request in
      request.number == 0 ? file.reply(to: request).stalling(at: .content(600_000)) : file.reply(to: request)
    } body: { server in
      let profiles = TestProfiles()
      #expect(try await profiles.logIn("work", server.origin, token: "t0ken").status == 0)
      let arguments = ["download", server.origin, "-o", folder.path("out"), "--continue"]
      _ = try await ToolRun.of(arguments) { process in
        try await waitWhile(folder.size("out.apus-part") == 0)
        kill(process, SIGINT)
      }
      let setting = ToolRun.Setting(environment: profiles.environment)
      let run = try await ToolRun.of(arguments + ["--profile", "work"], setting)
      #expect(run.status == 0, "\(run.error)")
      #expect(server.exchanges.map { $0.field("Range") } == [nil, nil])
      #expect(try folder.bytes("out") == Data(file.bytes))
    }
  }

  @Test("A download continues after a lost connection, and the file has the name in the first response")
  func lost() async throws {
    let file = FileOnServer(fields: ["Content-Disposition": "attachment; filename=film.mp4"])
    try await TestServer.with { request in
      request.number == 0 ? file.reply(to: request).resetting(at: .content(50_000)) : file.reply(to: request)
    } body: { server in
      let run = try await ToolRun.of(["download", server.origin + "/7"], folder.setting())
      #expect(run.text == "film.mp4\n", "\(run.error)")
      #expect(try folder.bytes("film.mp4") == Data(file.bytes))
      #expect(folder.names == ["film.mp4"])
      #expect(server.exchanges.count == 2)
    }
  }

  @Test(
    "The downloaded file must have the requested digest",
    arguments: [
      ("sha-256=1f825aa2f0020ef7cf91dfa30da4668d791c5d4824fc8e41354b89ec05795ab3", 0),
      ("SHA-256=H4JaovACDvfPkd+jDaRmjXkcXUgk/I5BNUuJ7AV5WrM=", 0),
      ("sha-256=0000000000000000000000000000000000000000000000000000000000000000", 8),
      ("sha-256=00", 64), ("md5=d41d8cd98f00b204e9800998ecf8427e", 64),
    ] as [(String, Int32)])
  func digest(digest: String, status: Int32) async throws {
    let file = FileOnServer(length: 10)
    try await TestServer.with {
      file.reply(to: $0)
    } body: { server in
      let run = try await ToolRun.of("download", server.origin, "-o", folder.path("out"), "--digest", digest)
      #expect(run.status == status, "\(run.error)")
      #expect(folder.names == (status == 0 ? ["out"] : []))
      if status == 8 { #expect(run.error.hasPrefix("apus: The file arrived damaged and was removed.")) }
    }
  }

  @Test(
    "A failed download exits with the status of the failure and a message, and leaves no file",
    arguments: [
      (
        Reply.json(#"{"detail":"There is no such film."}"#, status: 404), [], 22, "The server rejected the request: 404"
      ),
      (.status(204), [], 8, ""), (.stalled, ["--timeout", "0.3"], 28, ""), (.closed, [], 56, ""),
    ] as [(Reply, [String], Int32, String)])
  func failures(reply: Reply, options: [String], status: Int32, sentence: String) async throws {
    try await TestServer.with { _ in
      reply
    } body: { server in
      let run = try await ToolRun.of(["download", server.origin + "/x"] + options, folder.setting())
      #expect(run.status == status)
      #expect(run.text == "")
      #expect(run.error.hasPrefix("apus: " + sentence))
      if status == 22 { #expect(run.error.contains("There is no such film.")) }
      #expect(folder.names == [])
    }
  }

  @Test("The progress on a terminal includes the kept bytes, and is erased at the end")
  func progress() async throws {
    let file = FileOnServer()
    try await TestServer.with { request in
      request.number == 0
        ? file.reply(to: request).stalling(at: .content(600_000))
        : file.reply(to: request).pausing(for: .milliseconds(1200), at: .content(50_000))
    } body: { server in
      let arguments = ["download", server.origin, "-o", folder.path("out"), "--continue"]
      _ = try await ToolRun.of(arguments) { process in
        try await waitWhile(folder.size("out.apus-part") == 0)
        kill(process, SIGINT)
      }
      let terminal = try PseudoTerminal()
      let run = try await ToolRun.of(arguments, .init(error: terminal.program))
      #expect(run.status == 0)
      let shown = terminal.shown()
      #expect(shown.contains("\r[") && shown.contains(" of 976.5 KiB"))
      #expect(shown.hasSuffix("\r\u{1B}[K"))
    }
  }

  @Test("A slow download draws no progress if standard error is not a terminal")
  func noTerminal() async throws {
    let file = FileOnServer()
    try await TestServer.with { request in
      file.reply(to: request).pausing(for: .milliseconds(1200), at: .content(500_000))
    } body: { server in
      let run = try await ToolRun.of("download", server.origin, "-o", folder.path("out"))
      #expect(run.status == 0 && run.text == "" && run.error == "")
      #expect(try folder.bytes("out") == Data(file.bytes))
    }
  }

  @Test("Traces are printed for each request")
  func traces() async throws {
    let file = FileOnServer(length: 10)
    try await TestServer.with {
      file.reply(to: $0)
    } body: { server in
      let run = try await ToolRun.of("download", "--trace", server.origin, "-o", folder.path("out"))
      #expect(run.status == 0)
      #expect(run.error.contains("response with status 200") && run.error.contains("succeeded\n"))
    }
  }
}
