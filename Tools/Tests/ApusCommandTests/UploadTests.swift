import ApusTestServer
import Foundation
import Testing

/// `apus upload` with protocols for resumable uploads, run as a process.
@Suite("apus upload", .timeLimit(.minutes(3)))
struct UploadTests {
  private let folder: TestFolder
  private let bytes = generatedBytes(1_000_000)

  init() throws {
    folder = try TestFolder()
    try folder.write(bytes, to: "film.mp4")
  }

  /// The settings of a run whose state is in the test's folder.
  private var setting: ToolRun.Setting {
    folder.setting { $0.environment["APUS_STATE_HOME"] = folder.path("state") }
  }

  /// The names of the records of incomplete uploads.
  private var records: [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path("state/transfers"))) ?? []
    return names.filter { $0.hasSuffix(".json") }
  }

  private func tus(_ server: TestServer, _ options: String...) -> [String] {
    ["upload", "film.mp4", server.origin + "/files?a=1", "--protocol", "tus"] + options
  }

  /// Runs the program until a condition on the server is true, and then interrupts it.
  private func interrupted(
    _ arguments: [String], when condition: () -> Bool, before: () async throws -> Void = {}
  ) async throws -> ToolRun {
    try await ToolRun.of(arguments, setting) { process in
      try await waitWhile(!condition())
      try await before()
      kill(process, SIGINT)
    }
  }

  @Test("tus uploads the file, and prints the URL of the upload")
  func complete() async throws {
    let upload = UploadOnServer()
    try await TestServer.with {
      upload.tus($0)
    } body: { server in
      let run = try await ToolRun.of(tus(server, "-H", "X-A: 1", "--bearer", "t", "--checksum", "sha256"), setting)
      #expect(run.status == 0, "\(run.error)")
      #expect(run.text == "\(server.origin)/uploads/0\n" && run.error == "")
      #expect(upload.has(bytes))
      #expect(server.exchanges.map { "\($0.method) \($0.target)" } == ["POST /files?a=1", "PATCH /uploads/0"])
      for exchange in server.exchanges {
        #expect(exchange.field("X-A") == "1" && exchange.field("Authorization") == "Bearer t")
        #expect(exchange.field("Tus-Resumable") == "1.0.0")
      }
      let first = try #require(server.exchanges.first)
      #expect(first.field("Upload-Length") == "1000000")
      #expect(first.field("Upload-Metadata") == "filename ZmlsbS5tcDQ=,filetype dmlkZW8vbXA0")
      #expect(server.exchanges.last?.field("Upload-Checksum")?.hasPrefix("sha256 ") == true)
      #expect(records == [])
      var facts = stat()
      #expect(stat(folder.path("state/transfers"), &facts) == 0 && facts.st_mode & 0o777 == 0o700)
    }
  }

  @Test("The same command continues an interrupted upload; a second upload is refused while the first one runs")
  func continued() async throws {
    let upload = UploadOnServer(part: 600_000, stalls: true)
    try await TestServer.with {
      upload.tus($0)
    } body: { server in
      let first = try await interrupted(tus(server), when: { upload.hasStalled }) {
        let second = try await ToolRun.of(tus(server), setting)
        #expect(second.status == 23)
        #expect(second.error.hasPrefix("apus: This file is already being uploaded.\n"), "\(second.error)")
      }
      #expect(first.status == 130 && first.text == "")
      #expect(
        first.error == "apus: Interrupted. 600000 of 1000000 bytes are kept; the same command continues.\n")
      #expect(records.count == 1)
      let run = try await ToolRun.of(tus(server), setting)
      #expect(run.status == 0, "\(run.error)")
      #expect(run.text == "\(server.origin)/uploads/0\n")
      #expect(upload.has(bytes))
      let further = server.exchanges.dropFirst(3)
      #expect(further.map(\.method) == ["HEAD", "PATCH"])
      #expect(further.last?.field("Upload-Offset") == "600000" && further.last?.contentLength == 400_000)
      #expect(records == [])
    }
  }

  @Test("--restart discards an incomplete upload and starts over")
  func restarted() async throws {
    let upload = UploadOnServer(part: 600_000, stalls: true)
    try await TestServer.with {
      upload.tus($0)
    } body: { server in
      _ = try await interrupted(tus(server), when: { upload.hasStalled })
      let run = try await ToolRun.of(tus(server, "--restart"), setting)
      #expect(run.text == "\(server.origin)/uploads/4\n", "\(run.error)")
      #expect(upload.has(bytes))
      let further = server.exchanges.dropFirst(3)
      #expect(further.map(\.method) == ["DELETE", "POST", "PATCH", "PATCH"])
      #expect(further.first?.target == "/uploads/0")
    }
  }

  @Test("An upload is continued for the same profile only")
  func profiles() async throws {
    let upload = UploadOnServer(part: 600_000, stalls: true)
    try await TestServer.with {
      upload.tus($0)
    } body: { server in
      let profiles = TestProfiles()
      #expect(try await profiles.logIn("work", server.origin, token: "t0ken").status == 0)
      _ = try await interrupted(tus(server), when: { upload.hasStalled })
      var setting = setting
      setting.environment.merge(profiles.environment) { $1 }
      let run = try await ToolRun.of(tus(server, "--profile", "work"), setting)
      #expect(run.text == "\(server.origin)/uploads/3\n", "\(run.error)")
      #expect(server.exchanges.last?.field("Authorization") == "Bearer t0ken")
      #expect(records.count == 1)
    }
  }

  @Test("ietf continues an interrupted upload, and prints the response")
  func draft() async throws {
    let upload = UploadOnServer(part: 300_000, stalls: true)
    try await TestServer.with {
      upload.draft($0)
    } body: { server in
      let arguments = ["upload", "film.mp4", server.origin + "/files", "--protocol", "ietf"]
      let first = try await interrupted(arguments, when: { !records.isEmpty })
      #expect(first.status == 130)
      #expect(first.error == "apus: Interrupted. The same command continues with what the server has.\n")
      let run = try await ToolRun.of(arguments + ["-i"], setting)
      #expect(run.status == 0, "\(run.error)")
      #expect(run.text.hasPrefix("HTTP/1.1 201 Created\n") && run.text.hasSuffix("\n\n{\"id\":7}"), "\(run.text)")
      #expect(server.exchanges.map(\.method) == ["POST", "HEAD", "PATCH"])
      #expect(server.exchanges.last?.contentLength == 700_000)
      #expect(server.exchanges.first?.field("Content-Type") == "video/mp4")
    }
  }

  @Test("A failed upload exits with the status of the failure and a message")
  func failures() async throws {
    try await TestServer.with { _ in
      .json(#"{"detail":"The film is too long."}"#, status: 413)
    } body: { server in
      let rejected = try await ToolRun.of(tus(server), setting)
      #expect(rejected.status == 22 && rejected.text == "")
      #expect(
        rejected.error == "apus: The server rejected the request: 413.\n      The film is too long.\n")
      let input = try await ToolRun.of(["upload", "-", server.origin, "--protocol", "ietf"], setting)
      #expect(input.status == 64)
      #expect(
        input.error.hasPrefix(
          "Error: --protocol ietf needs a file, because standard input cannot be read again after an interruption.\n"),
        "\(input.error)")
      try #require(mkfifo(folder.path("pipe"), 0o600) == 0)
      let pipe = try await ToolRun.of(["upload", "pipe", server.origin, "--protocol", "tus"], setting)
      #expect(pipe.status == 26)
      try #require(chmod(folder.path("state/transfers"), 0o755) == 0)
      let open = try await ToolRun.of(tus(server), setting)
      #expect(open.status == 23)
      #expect(open.error.hasPrefix("apus: Other users can access \(folder.path("state/transfers"))"), "\(open.error)")
      #expect(server.exchanges.count == 1)
    }
  }

  @Test("A timeout is reported, including how to continue")
  func timeout() async throws {
    let upload = UploadOnServer(part: 600_000, stalls: true)
    try await TestServer.with {
      upload.tus($0)
    } body: { server in
      let run = try await ToolRun.of(tus(server, "--timeout", "8"), setting)
      #expect(run.status == 28)
      let sentence = try #require(run.error.split(separator: "\n").first)
      #expect(sentence.hasSuffix(" 600000 of 1000000 bytes are kept; the same command continues."), "\(run.error)")
      #expect(records.count == 1)
    }
  }

  @Test("The progress is drawn on a terminal and erased at the end")
  func progress() async throws {
    let upload = UploadOnServer()
    try await TestServer.with { request in
      let reply = upload.tus(request)
      return request.method == "PATCH" ? reply.pausing(for: .milliseconds(1200)) : reply
    } body: { server in
      let terminal = try PseudoTerminal()
      var setting = setting
      setting.error = terminal.program
      let run = try await ToolRun.of(tus(server), setting)
      #expect(run.status == 0)
      let shown = terminal.shown()
      #expect(shown.contains("\r[") && shown.contains(" of 976.5 KiB"), "\(shown)")
      #expect(shown.hasSuffix("\r\u{1B}[K"))
    }
  }

  @Test("A slow upload draws no progress if standard error is not a terminal")
  func noTerminal() async throws {
    let upload = UploadOnServer()
    try await TestServer.with { request in
      let reply = upload.tus(request)
      return request.method == "PATCH" ? reply.pausing(for: .milliseconds(1200)) : reply
    } body: { server in
      let run = try await ToolRun.of(tus(server), setting)
      #expect(run.status == 0 && run.text == "\(server.origin)/uploads/0\n" && run.error == "")
      #expect(upload.has(bytes))
    }
  }
}
