import ApusTestServer
import Foundation
import Testing

/// `apus download` from servers with unusable ranges, unusual codings and large files, run as a process.
@Suite("apus download from unusual servers", .timeLimit(.minutes(3)))
struct DownloadFaultTests {
  private let folder: TestFolder

  init() throws {
    folder = try TestFolder()
  }

  private var arguments: [String] { ["-o", folder.path("out")] }

  /// A part that was not requested.
  private static let otherPart = Reply.status(
    206, fields: ["ETag": FileOnServer().tag, "Content-Range": "bytes */*"], content: [1, 2, 3])

  /// Downloads the first bytes of a file and interrupts the download.
  private func interrupt(_ server: TestServer) async throws {
    let interrupted = try await ToolRun.of(["download", server.origin] + arguments) { process in
      try await waitWhile(folder.size("out.apus-part") == 0)
      kill(process, SIGINT)
    }
    #expect(interrupted.status == 130)
  }

  @Test("--continue starts over by itself if the server's ranges are unusable")
  func unusableRange() async throws {
    let file = FileOnServer()
    try await TestServer.with { request in
      if request.field("Range") != nil { return Self.otherPart }
      return request.number == 0 ? file.reply(to: request).stalling(at: .content(600_000)) : file.reply(to: request)
    } body: { server in
      try await interrupt(server)
      let run = try await ToolRun.of(["download", server.origin, "--continue"] + arguments)
      #expect(run.status == 0 && run.error == "", "\(run.error)")
      #expect(try folder.bytes("out") == Data(file.bytes))
      #expect(server.exchanges.map { $0.field("Range") != nil } == [false, true, false])
    }
  }

  @Test("The message about a rejected continuation explains both ways to proceed")
  func rejected() async throws {
    let file = FileOnServer()
    try await TestServer.with { request in
      request.field("Range") == nil
        ? file.reply(to: request).stalling(at: .content(600_000)) : .text("no", status: 403)
    } body: { server in
      try await interrupt(server)
      let run = try await ToolRun.of(["download", server.origin, "--continue"] + arguments)
      #expect(run.status == 22)
      #expect(
        run.error.hasPrefix("apus: The server rejected the request: 403.")
          && run.error.contains("the same command with --continue continues, and without it starts over."),
        "\(run.error)")
    }
  }

  @Test(
    "The cause of a failure is printed",
    arguments: [
      (otherPart, 8, "the server sent a part of the file that was not requested"),
      (.status(204), 8, "a response with status 204 contains no file"),
    ] as [(Reply, Int32, String)])
  func cause(reply: Reply, status: Int32, cause: String) async throws {
    try await TestServer.with { _ in
      reply
    } body: { server in
      let run = try await ToolRun.of(["download", server.origin] + arguments)
      #expect(run.status == status)
      #expect(run.error.contains(cause), "\(run.error)")
      #expect(folder.names == [])
    }
  }

  @Test("If the file cannot be written, the cause is printed")
  func written() async throws {
    try folder.write("old".utf8, to: "out")
    let run = try await ToolRun.of(["download", "http://127.0.0.1:1/"] + arguments)
    #expect(run.status == 23)
    #expect(run.error.hasSuffix(": the file exists\n"), "\(run.error)")
  }

  @Test("A file with a content coding is saved unchanged, with a message, unless the coding was accepted")
  func coding() async throws {
    let compressed: [UInt8] = [
      31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 72, 205, 201, 201, 7, 0, 134, 166, 16, 54, 5, 0, 0, 0,
    ]
    try await TestServer.with { _ in
      .status(200, fields: ["Content-Encoding": "x-gzip", "ETag": "\"v1\""], content: compressed)
    } body: { server in
      let run = try await ToolRun.of(["download", server.origin] + arguments)
      #expect(run.status == 0)
      #expect(
        run.error == "apus: The file was saved as the server sent it, with the content coding x-gzip.\n")
      #expect(try folder.bytes("out") == Data(compressed))
      let accepted = try await ToolRun.of(
        ["download", server.origin, "--force", "-H", "Accept-Encoding: gzip"] + arguments)
      #expect(accepted.status == 0 && accepted.error == "")
      #expect(server.exchanges.map { $0.field("Accept-Encoding") } == ["identity", "gzip"])
    }
  }

  @Test("--max-filesize refuses a larger file, with status 63 and the limit", arguments: [true, false])
  func maximum(statesLength: Bool) async throws {
    try await TestServer.with { _ in
      let reply = Reply.generated(1_000_000)
      return statesLength ? reply : .unframed([UInt8](repeating: 7, count: 1_000_000))
    } body: { server in
      let run = try await ToolRun.of(["download", server.origin, "--max-filesize", "999999"] + arguments)
      #expect(run.status == 63)
      #expect(run.error.hasPrefix("apus: The file is larger than allowed. Use a larger --max-filesize to allow it.\n"))
      #expect(run.error.contains("the file is larger than 999999 bytes"))
      #expect(folder.names == [])
      let allowed = try await ToolRun.of(["download", server.origin, "--max-filesize", "1000000"] + arguments)
      #expect(allowed.status == 0 && folder.size("out") == 1_000_000, "\(allowed.error)")
    }
  }
}
