import ApusCore
import ApusTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("The files of a download")
struct DownloadTargetTests {
  private let film = FileOnServer(length: 700_000)

  /// Returns the reason why a download is refused before a request is sent.
  private func refusal(
    _ options: DownloadOptions = DownloadOptions(), _ prepare: (DownloadBench) throws -> Void
  ) async throws -> TransferError.Problem? {
    try await DownloadBench.with { bench in
      bench.serve(film)
      try prepare(bench)
      let error = await failure { try await bench.download(options) }
      #expect(error?.code == .refused && error?.requestState == .notSent && bench.stub.exchanges.isEmpty)
      // The folder contains only the file that the test prepared.
      #expect(bench.names.count == 1)
      return error?.transfer?.problem
    }
  }

  @Test("An existing file is refused before a request is sent, and stays unchanged")
  func exists() async throws {
    let reason = try await refusal { try Data("old".utf8).write(to: URL(filePath: $0.target)) }
    #expect(reason == .fileExists)
  }

  @Test("An existing file is replaced if the options permit it")
  func replaces() async throws {
    try await DownloadBench.with { bench in
      try Data("old".utf8).write(to: URL(filePath: bench.target))
      bench.serve(film)
      try await bench.download(DownloadOptions(replacesExisting: true))
      #expect(bench.bytes(bench.target) == film.bytes && bench.names == ["film.mp4"])
    }
  }

  @Test("A file that appears during the download is not replaced, and the received bytes are kept")
  func appears() async throws {
    try await DownloadBench.with { bench in
      let gate = Gate()
      bench.reply(film.whole().waiting(for: gate))
      let task = Task { await failure { try await bench.download() } }
      try await bench.stub.waitForExchanges(1)
      try Data("other".utf8).write(to: URL(filePath: bench.target))
      gate.open()
      let error = await task.value
      #expect(error?.transfer?.problem == .fileExists && error?.transfer?.keptBytes == 700_000)
      #expect(error?.requestState == .responded && error?.phase == .receiving)
      #expect(bench.bytes(bench.target) == Data("other".utf8))
      bench.serve(film)
      let file = try await bench.download(DownloadOptions(replacesExisting: true))
      #expect(file.resumedBytes == 700_000 && bench.bytes(bench.target) == film.bytes)
    }
  }

  @Test(
    "A complete file that cannot be renamed is kept even without a validator, and the same call renames it",
    arguments: [nil, #"W/"v1""#])
  func appearsWithoutValidator(_ tag: String?) async throws {
    try await DownloadBench.with { bench in
      var film = film
      film.tag = tag
      let gate = Gate()
      bench.reply(film.whole().waiting(for: gate))
      let task = Task { await failure { try await bench.download() } }
      try await bench.stub.waitForExchanges(1)
      try Data("other".utf8).write(to: URL(filePath: bench.target))
      gate.open()
      let error = await task.value
      #expect(error?.transfer?.problem == .fileExists && error?.transfer?.keptBytes == 700_000)
      #expect(bench.bytes(bench.partial) == film.bytes && DownloadBench.mode(of: bench.partial) == 0o600)
      let file = try await bench.download(DownloadOptions(replacesExisting: true))
      #expect((file.size, file.resumedBytes, file.mediaType) == (700_000, 700_000, "video/mp4"))
      #expect(bench.bytes(bench.target) == film.bytes && bench.stub.exchanges.count == 1)
      #expect(bench.names == ["film.mp4"])
    }
  }

  @Test(
    "Leftovers of a killed process are removed when the file is downloaded, discarded or found complete",
    arguments: ["download", "discard", "discard nothing", "complete"])
  func remains(_ action: String) async throws {
    try await DownloadBench.with { bench in
      bench.serve(film)
      let momentary = [bench.record + ".new", bench.partial + ".mode"]
      let others = ["discard nothing": [], "complete": [bench.record]][action] ?? [bench.partial]
      for path in momentary + others {
        try Data("x".utf8).write(to: URL(filePath: path))
      }
      switch action {
      case "download": try await bench.download()
      case "discard", "discard nothing": try await bench.api.discardDownload(to: bench.target)
      default:
        try film.bytes.write(to: URL(filePath: bench.target))
        // The process had given the file its final name, but had not removed the old name.
        try FileManager.default.linkItem(atPath: bench.target, toPath: bench.partial)
        let error = await failure { try await bench.download() }
        #expect(error?.transfer?.problem == .fileExists && bench.bytes(bench.target) == film.bytes)
      }
      #expect(bench.names == (action.hasPrefix("discard") ? [] : ["film.mp4"]))
    }
  }

  @Test("A link is never followed or replaced", arguments: [false, true])
  func link(_ replaces: Bool) async throws {
    let reason = try await refusal(DownloadOptions(replacesExisting: replaces)) { bench in
      try FileManager.default.createSymbolicLink(atPath: bench.target, withDestinationPath: bench.folder + "/else")
    }
    #expect(reason == .notAFile)
  }

  @Test("A link in place of the incomplete file or its record is refused")
  func linkedPart() async throws {
    let reason = try await refusal { bench in
      try FileManager.default.createSymbolicLink(atPath: bench.partial, withDestinationPath: bench.folder + "/else")
    }
    #expect(reason == .notAFile)
    let second = try await refusal { bench in
      try FileManager.default.createSymbolicLink(atPath: bench.record, withDestinationPath: bench.folder + "/else")
    }
    #expect(second == .notAFile)
  }

  @Test("A pipe in place of the incomplete file is refused without waiting for a writer")
  func pipe() async throws {
    let reason = try await refusal { #expect(mkfifo($0.partial, 0o600) == 0) }
    #expect(reason == .notAFile)
  }

  @Test("A folder at the path of the file is refused")
  func folder() async throws {
    let reason = try await refusal {
      try FileManager.default.createDirectory(atPath: $0.target, withIntermediateDirectories: false)
    }
    #expect(reason == .isFolder)
  }

  @Test(
    "A path that cannot be that of a file is refused",
    arguments: ["", ".", "..", "/", "films/", "a\0b", "/tmp/..", String(repeating: "a", count: 256)])
  func path(_ path: String) async throws {
    try await DownloadBench.with { bench in
      let error = await failure { try await bench.api.download("/film", to: path) }
      #expect(error?.transfer?.problem == .invalidPath && bench.stub.exchanges.isEmpty)
    }
  }

  @Test("A missing folder is refused")
  func missing() async throws {
    try await DownloadBench.with { bench in
      let error = await failure { try await bench.api.download("/film", to: bench.folder + "/none/film.mp4") }
      #expect(error?.transfer?.problem == .folderMissing)
    }
  }

  @Test("A name that is too long for the suffixes of related files works", arguments: [231, 255])
  func longName(_ length: Int) async throws {
    try await DownloadBench.with { bench in
      bench.serve(film)
      let path = bench.folder + "/" + String(repeating: "é", count: (length - 1) / 2) + "a"
      let file = try await bench.api.download("/film", to: path)
      #expect(file.size == 700_000 && bench.bytes(path) == film.bytes && bench.names.count == 1)
    }
  }

  @Test("A second download to the same file is refused while the first runs, and does not disturb the first")
  func two() async throws {
    try await DownloadBench.with { bench in
      let gate = Gate()
      bench.reply(film.whole().waiting(for: gate))
      let first = Task { try await bench.download() }
      try await bench.stub.waitForExchanges(1)
      let error = await failure { try await bench.download() }
      #expect(error?.code == .refused && error?.transfer?.problem == .inUse)
      let discarding = await failure { try await bench.api.discardDownload(to: bench.target) }
      #expect(discarding?.transfer?.problem == .inUse)
      gate.open()
      _ = try await first.value
      #expect(bench.bytes(bench.target) == film.bytes && bench.stub.exchanges.count == 1)
    }
  }

  @Test("An incomplete file that also has its final name is not written to")
  func diedWhilePublishing() async throws {
    try await DownloadBench.with { bench in
      try film.bytes.write(to: URL(filePath: bench.partial))
      try FileManager.default.linkItem(atPath: bench.partial, toPath: bench.target)
      var next = FileOnServer(length: 100, seed: 9)
      next.tag = nil
      bench.serve(next)
      let other = try FileHandle(forReadingFrom: URL(filePath: bench.target))
      try await bench.download(DownloadOptions(replacesExisting: true))
      #expect(bench.bytes(bench.target) == next.bytes)
      #expect(try other.readToEnd() == film.bytes)
    }
  }

  @Test("A file larger than the free space is refused before its content is read")
  func space() async throws {
    try await DownloadBench.with { bench in
      var film = film
      film.fields[.contentLength] = String(Int64.max / 2)
      bench.reply(film.whole())
      let error = await failure { try await bench.download() }
      #expect(error?.code == .refused && error?.transfer?.problem == .diskFull)
      #expect(error?.message == "There is not enough space for the file. Free some space and try again.")
    }
  }
}
