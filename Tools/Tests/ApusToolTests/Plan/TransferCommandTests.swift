import Apus
import ApusTransfers
import ArgumentParser
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("The command lines of download and upload")
struct TransferCommandTests {
  private func download(_ arguments: String...) throws -> DownloadPlan {
    try DownloadCommand.parse(arguments).plan()
  }

  @Test("By default a download starts over, replaces no file and uses the server's name")
  func defaults() throws {
    let plan = try download("h.example/a")
    #expect(plan.request.method == .get && plan.request.url.target == "/a")
    #expect(plan.output == nil)
    #expect(!plan.options.resumes && !plan.options.replacesExisting && plan.options.digest == nil)
  }

  @Test("The options of a download are parsed")
  func options() throws {
    let plan = try download(
      "h.example", "-o", "f", "--continue", "--force", "-H", "A: 1", "--digest",
      "sha-512=" + String(repeating: "0f", count: 64))
    #expect(plan.output == "f")
    #expect(plan.options.resumes && plan.options.replacesExisting)
    #expect(plan.options.digest?.algorithm == .sha512)
    #expect(plan.request.fields == [RawField("A", "1")])
  }

  @Test("A field Accept-Encoding permits coded content")
  func coding() throws {
    let endpoint = try download("h.example", "-H", "accept-encoding: gzip").endpoint(ConnectionPlan())
    #expect(endpoint.fields == [RawField("accept-encoding", "gzip")])
  }

  @Test(
    "Invalid command lines of downloads are rejected",
    arguments: [
      ["ftp://h/"], ["h", "-o", ""], ["h", "-o", "-"], ["h", "--force"], ["h", "-H", "Range: bytes=0-1"],
      ["h", "-H", "if-range: x"], ["h", "--digest", "sha-256"], ["h", "--digest", "sha-256=x"], ["h", "-H", "a"],
      ["h", "--max-filesize=-1"],
    ])
  func refused(arguments: [String]) throws {
    let command = try DownloadCommand.parse(arguments)
    #expect(throws: PlanError.self) { try command.plan() }
  }

  private func upload(_ arguments: String...) throws -> UploadPlan {
    try UploadCommand.parse(arguments).plan()
  }

  @Test("An upload sends the file with PUT and the media type of its extension")
  func upload() throws {
    let plan = try upload("a/film.mp4", "h.example", "-i")
    #expect(plan.style == .plain && plan.sending.request.method == .put)
    #expect(plan.sending.request.content == .file("a/film.mp4", "video/mp4"))
    #expect(plan.sending.includesHead)
    let typed = try upload("-", "h.example", "--method", "PoSt", "--type", "a/b").sending.request
    #expect(typed.method.rawValue == "PoSt" && typed.content == .input("a/b"))
  }

  @Test("A resumable upload is created with POST")
  func resumableUpload() throws {
    let tus = try upload("film.mp4", "h.example", "--protocol", "tus", "--checksum", "SHA1", "--restart")
    #expect(tus.style == .tus(.sha1) && tus.restarts)
    #expect(tus.sending.request.method == .post)
    #expect(tus.sending.request.content == .file("film.mp4", "video/mp4"))
    let ietf = try upload("f", "h.example", "--protocol", "ietf", "--method", "put", "-i", "--raw")
    #expect(ietf.style == .ietf && !ietf.restarts)
    #expect(ietf.sending.request.method == .put && ietf.sending.includesHead && ietf.sending.isRaw)
    #expect(try upload("f", "h.example", "--protocol", "tus").style == .tus(nil))
  }

  @Test("Repeated fields of a resumable upload are joined")
  func joinedFields() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "apus-\(UUID())")
    try Data().write(to: folder)
    defer { try? FileManager.default.removeItem(at: folder) }
    let plan = try upload(folder.path, "h.example", "--protocol", "tus", "-H", "X-A: 1", "-H", "B: 2", "-H", "x-a: 3")
    #expect(try plan.endpoint(ConnectionPlan()).fields == [RawField("x-a", "1, 3"), RawField("B", "2")])
  }

  @Test(
    "Invalid command lines of uploads are rejected",
    arguments: [
      ["", "h"], ["f", "ftp://h/"], ["f", "h", "--method", "A B"], ["-", "h", "--protocol", "tus"],
      ["-", "h", "--protocol", "ietf"], ["f", "h", "--restart"], ["f", "h", "--checksum", "sha1"],
      ["f", "h", "--protocol", "ietf", "--checksum", "sha1"], ["f", "h", "--protocol", "tus", "--checksum", "md5"],
      ["f", "h", "--protocol", "tus", "-i"], ["f", "h", "--protocol", "tus", "--raw"],
      ["f", "h", "--protocol", "tus", "-H", "upload-offset: 1"],
      ["f", "h", "--protocol", "ietf", "-H", "Upload-Complete: ?1"],
    ])
  func refusedUpload(arguments: [String]) throws {
    let command = try UploadCommand.parse(arguments)
    #expect(throws: PlanError.self) { try command.plan() }
  }
}
