import ApusCore
import ApusMiddleware
import ApusTesting
import Crypto
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ApusTransfers

extension Endpoint where Self == Request<Content> {
  fileprivate static var film: Self { .get("/film") }
}

extension Endpoint where Self == Request<String> {
  fileprivate static var text: Self { .get("/film") }
}

@Suite("Downloads")
struct DownloadTests {
  private let film = FileOnServer(length: 700_000)

  @Test("A complete download has its final name and the permissions of a new file, and leaves no other file")
  func complete() async throws {
    try await DownloadBench.with { bench in
      bench.serve(film)
      let file = try await bench.download()
      #expect(bench.bytes(bench.target) == film.bytes)
      #expect(bench.names == ["film.mp4"])
      #expect((file.path, file.size, file.resumedBytes) == (bench.target, 700_000, 0))
      #expect(file.field("ETag") == #""v1""# && file.mediaType == "video/mp4" && file.status == 200)
      #expect(FileManager.default.createFile(atPath: bench.folder + "/other", contents: nil))
      let mode = try #require(FileManager.default.attributesOfItem(atPath: bench.target)[.posixPermissions] as? Int)
      #expect(mode & 0o600 == 0o600 && mode & 0o111 == 0)
      #expect(bench.stub.exchanges.first?.fields[.acceptEncoding] == "identity")
    }
  }

  @Test("Every style of endpoint can be downloaded")
  func styles() async throws {
    try await DownloadBench.with { bench in
      bench.serve(film)
      let (api, options) = (bench.api, DownloadOptions(replacesExisting: true))
      let link = "https://films.example/film"
      let files = [
        try await api.download(.film, to: bench.target),
        try await api.download(.text, to: bench.target, options: options),
        try await api.download("/film", to: bench.target, options: options),
        try await api.download(.url(link), to: bench.target, options: options),
        try await api.download(Request<Data>.get("/film"), to: bench.target, options: options),
      ]
      #expect(files.allSatisfy { $0.size == 700_000 } && bench.stub.exchanges.count == 5)
    }
  }

  @Test("Progress never decreases and ends with the total")
  func progress() async throws {
    try await DownloadBench.with { bench in
      try await bench.interrupt(film, after: 300_000)
      bench.serve(film)
      try await bench.download()
      let completed = bench.progress.completed
      #expect(completed == completed.sorted() && completed.last == 700_000)
      #expect(bench.progress.totals.allSatisfy { $0 == 700_000 })
    }
  }

  @Test("The endpoint's progress covers the whole download, and is complete at its end")
  func reporter() async throws {
    try await DownloadBench.with { bench in
      try await bench.interrupt(film, after: 300_000)
      bench.serve(film)
      let progress = ProgressReporter()
      let request = Request<Content>.get("/film").downloadProgress(progress)
      _ = try await bench.api.download(request, to: bench.target)
      #expect(progress.current.completed == 700_000 && progress.current.fraction == 1)
      var steps: [Int64] = []
      for await step in progress { steps.append(step.completed) }
      #expect(steps == [700_000])

      let failed = ProgressReporter()
      _ = await failure { try await bench.api.download(request.downloadProgress(failed), to: bench.target) }
      for await _ in failed { #expect(Bool(false), "nothing was transferred") }
    }
  }

  @Test("The incomplete file and its record are accessible to their owner only")
  func privacy() async throws {
    try await DownloadBench.with { bench in
      try await bench.interrupt(film, after: 1000)
      #expect(bench.names == ["film.mp4.apus-part", "film.mp4.apus-part.json"])
      #expect(DownloadBench.mode(of: bench.partial) == 0o600 && DownloadBench.mode(of: bench.record) == 0o600)
    }
  }

  @Test("The same call continues an interrupted download with the missing range")
  func resume() async throws {
    try await DownloadBench.with { bench in
      try await bench.interrupt(film, after: 300_000)
      bench.serve(film)
      let file = try await bench.download()
      #expect(bench.ranges == ["", "bytes=300000-"])
      #expect(bench.stub.exchanges.last?.fields[.ifRange] == #""v1""#)
      #expect(bench.bytes(bench.target) == film.bytes)
      #expect((file.resumedBytes, file.status, file.mediaType) == (300_000, 206, "video/mp4"))
      #expect(bench.names == ["film.mp4"])
    }
  }

  @Test("A download continues by itself after a lost connection, as long as bytes arrive")
  func continues() async throws {
    try await DownloadBench.with { bench in
      var film = film
      film.pieceSize = 100_000
      bench.reply(
        film.whole().failing(after: 2), film.part(from: 200_000).failing(after: 1), film.part(from: 300_000))
      let file = try await bench.download()
      #expect(bench.ranges == ["", "bytes=200000-", "bytes=300000-"])
      #expect(bench.bytes(bench.target) == film.bytes && file.resumedBytes == 0)
    }
  }

  @Test("A download fails when no bytes arrive, or after its number of continuations, and keeps the received bytes")
  func givesUp() async throws {
    try await DownloadBench.with { bench in
      var film = film
      film.pieceSize = 100_000
      bench.reply(film.whole().failing(after: 1), film.part(from: 100_000).failing(after: 0))
      let error = await failure { try await bench.download() }
      #expect(error?.code == .connectionLost && bench.ranges.count == 2)
      #expect(error?.transfer?.problem == .interrupted && error?.transfer?.keptBytes == 100_000)
      #expect(error?.description.contains("100000 of 700000 bytes are kept; the same call continues") == true)
      bench.reply(film.part(from: 100_000).failing(after: 1), film.part(from: 200_000).failing(after: 1))
      var options = DownloadOptions()
      options.maximumContinuations = 1
      let second = await failure { try await bench.download(options) }
      #expect(second?.transfer?.keptBytes == 300_000 && bench.ranges.count == 4)
    }
  }

  @Test("Without a strong validator, no bytes are kept after an interruption, and the error states that")
  func weak() async throws {
    try await DownloadBench.with { bench in
      var film = film
      film.tag = #"W/"v1""#
      bench.reply(film.whole().failing(after: 1))
      let error = await failure { try await bench.download() }
      #expect(error?.code == .connectionLost && error?.transfer?.keptBytes == 0)
      #expect(error?.description.contains("nothing is kept; the same call starts again") == true)
      #expect(bench.names.isEmpty)
    }
  }

  @Test("Cancelling the task keeps the received bytes, and repeating the call continues the download")
  func cancel() async throws {
    try await DownloadBench.with { bench in
      var film = film
      film.pieceSize = 300_000
      bench.reply(film.whole().stalled(after: 1))
      let task = Task { await failure { try await bench.download() } }
      try await waitWhile(bench.progress.completed.last != 300_000)
      task.cancel()
      let error = await task.value
      #expect(error?.code == .cancelled && error?.cancellation == .caller && error?.transfer?.keptBytes == 300_000)
      bench.serve(film)
      let file = try await bench.download()
      #expect(file.resumedBytes == 300_000)
      #expect(bench.bytes(bench.target) == film.bytes)
    }
  }

  @Test("A timeout of the app ends the download and keeps the received bytes", arguments: [false, true])
  func deadline(_ isInherited: Bool) async throws {
    try await DownloadBench.with { bench in
      var film = film
      film.pieceSize = 300_000
      bench.reply(film.whole().stalled(after: 1))
      let clock = ManualClock(.manual)
      var settings = ClientSettings()
      settings.runtime.clock = clock
      let environment = Environment(baseURL: "https://films.example")
      let pipeline: Pipeline = [.timeout: TimeoutMiddleware()]
      let api = Client(environment: environment, pipeline: pipeline, transport: bench.stub, settings: settings)
      let request = isInherited ? Request<Content>.get("/film") : Request<Content>.get("/film").timeout(.seconds(5))
      let task = Task {
        await failure {
          try await api.withDeadline(.seconds(isInherited ? 5 : 50)) { () async throws(CallError) in
            try await api.download(request, to: bench.target, DownloadOptions()) { bench.progress.add($0, $1) }
          }
        }
      }
      try await waitWhile(bench.progress.completed.last != 300_000)
      clock.advance(by: .seconds(6))
      let error = await task.value
      #expect(error?.code == .timeout && error?.transfer?.keptBytes == 300_000 && bench.ranges == [""])
    }
  }

  @Test("A download with `resumes` set to false starts over")
  func startsOver() async throws {
    try await DownloadBench.with { bench in
      try await bench.interrupt(film, after: 300_000)
      bench.serve(film)
      let file = try await bench.download(DownloadOptions(resumes: false))
      #expect(file.resumedBytes == 0)
      #expect(bench.ranges == ["", ""] && bench.bytes(bench.target) == film.bytes)
    }
  }

  @Test("Discarding removes the incomplete file and its record; without them it has no effect")
  func discard() async throws {
    try await DownloadBench.with { bench in
      try await bench.interrupt(film, after: 300_000)
      try await bench.api.discardDownload(to: bench.target)
      #expect(bench.names.isEmpty)
      try await bench.api.discardDownload(to: bench.target)
    }
  }

  @Test("Bytes from another URL are used only if both downloads have the same resource name")
  func otherResource() async throws {
    try await DownloadBench.with { bench in
      try await bench.interrupt(film, after: 300_000)
      bench.serve(film)
      _ = try await bench.api.download("/film?signature=2", to: bench.target)
      #expect(bench.ranges == ["", ""])
      var options = DownloadOptions.once
      options.replacesExisting = true
      options.resource = "film 7"
      bench.reply(film.whole().failing(after: 1))
      _ = await failure { try await bench.api.download("/film?signature=3", to: bench.target, options: options) }
      bench.serve(film)
      _ = try await bench.api.download("/film?signature=4", to: bench.target, options: options)
      #expect(bench.ranges.suffix(2) == ["", "bytes=1000-"])
    }
  }

  @Test("Bytes of another account are not used", arguments: ["bob", nil])
  func otherAccount(_ other: String?) async throws {
    try await DownloadBench.with { bench in
      var options = DownloadOptions.once
      for (account, range) in [("ada", ""), ("ada", "bytes=1000-"), (other, "")] {
        options.account = account
        bench.reply(bench.ranges.isEmpty ? film.whole().failing(after: 1) : film.part(from: 1000).failing(after: 0))
        if account != "ada" { bench.reply(film.whole()) }
        _ = await failure { try await bench.download(options) }
        #expect(bench.ranges.last == range)
      }
      #expect(bench.bytes(bench.target) == film.bytes)
      #expect(bench.names == ["film.mp4"])
    }
  }

  @Test("The record contains no account")
  func accountHash() async throws {
    try await DownloadBench.with { bench in
      var options = DownloadOptions.once
      options.account = "walter@films.example"
      bench.reply(film.whole().failing(after: 1))
      _ = await failure { try await bench.download(options) }
      let record = try #require(bench.bytes(bench.record).map { String(decoding: $0, as: UTF8.self) })
      #expect(!record.contains("walter"))
    }
  }

  @Test("A rejected continuation keeps the bytes on disk")
  func rejected() async throws {
    try await DownloadBench.with { bench in
      try await bench.interrupt(film, after: 300_000)
      bench.reply(.status(503))
      let error = await failure { try await bench.download() }
      #expect(error?.code == .rejected && error?.status == 503 && error?.transfer?.keptBytes == 300_000)
      bench.serve(film)
      let file = try await bench.download()
      #expect(file.resumedBytes == 300_000)
    }
  }

  @Test("The record contains no query and no secret")
  func secrets() async throws {
    try await DownloadBench.with { bench in
      bench.stub.onAny(reply: film.whole().failing(after: 1))
      let request = Request<Content>.get("/film?signature=SENTINEL").field("Authorization", "Bearer SENTINEL")
      _ = await failure { try await bench.api.download(request, to: bench.target, options: .once) }
      let record = try #require(bench.bytes(bench.record).map { String(decoding: $0, as: UTF8.self) })
      #expect(record.contains("https://films.example/film") && !record.contains("SENTINEL"))
    }
  }
}
