#if os(Linux) || os(macOS)
import ApusCore
import ApusTestServer
import Foundation
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Files that cannot be read")
struct UnreadableFileTests {
  @Test(
    "A file that the process may not read fails the upload, and no request is sent",
    arguments: ["plain", "tus", "ietf"])
  func mode(_ variant: String) async throws {
    try await UploadServer.with(.tus) { _, server in
      try await UploadBench.with(server) { bench in
        try bench.write(1000)
        #expect(chmod(bench.path, 0) == 0)
        let process = try WorkerProcess(
          .transfers, "unreadable", server.origin + UploadServer.path, bench.path, variant)
        let line = await process.line { _ in true }
        #expect(line == "error encoding notSent the file \(bench.path) cannot be sent: it is not readable")
        #expect(server.exchanges.isEmpty)
      }
    }
  }

  @Test("A file that disappears before it is opened fails the upload with a specific reason")
  func disappears() async throws {
    try await UploadServer.with(.tus) { request in
      // The upload has already checked its file, and will open it for the first part.
      if request.method == "POST" { try? FileManager.default.removeItem(atPath: request.fields["X-Path"] ?? "") }
      return nil
    } _: { _, server in
      try await UploadBench.with(server) { bench in
        try bench.write(1000)
        let film = bench.film.field("X-Path", bench.path)
        let error = await failure { try await bench.api.upload(film, by: .tus(), options: bench.options) }
        #expect(error?.code == .encoding && error?.transfer?.problem == .fileMissing)
        #expect(error?.message == "The file does not exist.")
        #expect(error?.description.contains("the file does not exist; check the path") == true)
      }
    }
  }

  @Test(
    "The digest of a file that cannot be read fails with the reason",
    arguments: [
      ("", TransferError.Problem.isFolder), ("/none", .fileMissing), ("/file/below", .fileMissing),
      ("/loop", .notAFile),
    ])
  func digest(path: String, reason: TransferError.Problem) async throws {
    try await DownloadBench.with { bench in
      try Data("x".utf8).write(to: URL(filePath: bench.folder + "/file"))
      try FileManager.default.createSymbolicLink(atPath: bench.folder + "/loop", withDestinationPath: "loop")
      do throws(TransferError) {
        _ = try await FileDigest(ofFileAt: bench.folder + path)
        Issue.record("the file was read")
      } catch {
        #expect(error.problem == reason)
      }
    }
  }

  @Test("A folder, a path through a file and a loop of links cannot be sent", arguments: ["", "/file/below", "/loop"])
  func special(_ path: String) async throws {
    try await UploadServer.with(.tus) { _, server in
      try await UploadBench.with(server) { bench in
        let folder = bench.bench.folder
        try Data("x".utf8).write(to: URL(filePath: folder + "/file"))
        try FileManager.default.createSymbolicLink(atPath: folder + "/loop", withDestinationPath: "loop")
        let film = Request<Void>.post("/files", content: .file(folder + path))
        let plain = await failure { try await bench.api.send(film) }
        let resumable = await failure { try await bench.api.upload(film, by: .tus()) }
        #expect(plain?.code == .encoding && resumable?.code == .encoding)
        #expect(
          plain?.detail.hasPrefix("the file \(folder + path) cannot be sent: ") == true
            && plain?.detail == resumable?.detail)
        #expect(server.exchanges.isEmpty)
      }
    }
  }
}
#endif
