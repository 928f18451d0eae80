import ApusCore
import ApusMiddleware
import ApusTesting
import Crypto
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Downloads with several concurrent ranges")
struct ParallelDownloadTests {
  private let film = FileOnServer(length: 700_000)

  /// Serves the complete file to requests without a range, and calls the closure for the replies to requests with a
  /// range.
  private func serve(
    _ bench: DownloadBench, ranges: @escaping @Sendable (FileOnServer, HTTPFields) -> StubReply
  ) {
    let film = film
    reply(bench) { $0[.range] == nil ? film.whole() : ranges(film, $0) }
  }

  private func reply(_ bench: DownloadBench, _ reply: @escaping @Sendable (HTTPFields) -> StubReply) {
    bench.stub.on(where: { _, _ in true }, reply: { reply($0.fields) })
  }

  /// Returns the first offset of a range.
  private static func start(of fields: HTTPFields) -> Int {
    fields[.range].flatMap { Int($0.dropFirst("bytes=".count).prefix { $0 != "-" }) } ?? 0
  }

  /// Returns the total number of bytes in the requested ranges that have a first and a last byte.
  private func requestedBytes(_ bench: DownloadBench) -> Int {
    bench.ranges.reduce(0) { sum, range in
      let ends = range.dropFirst("bytes=".count).split(separator: "-").compactMap { Int($0) }
      return ends.count == 2 ? sum + ends[1] - ends[0] + 1 : sum
    }
  }

  @Test("The rest of the file is requested in ranges while the first response is read")
  func complete() async throws {
    try await DownloadBench.with { bench in
      bench.serve(film)
      let file = try await bench.download(.parallel())
      #expect(bench.bytes(bench.target) == film.bytes && bench.names == ["film.mp4"])
      #expect(
        (file.size, file.resumedBytes, file.mediaType) == (700_000, 0, "video/mp4") && file.field("ETag") == #""v1""#)
      let ranges = Set(bench.ranges)
      #expect(ranges.isSuperset(of: ["", "bytes=175000-349999", "bytes=350000-524999", "bytes=525000-699999"]))
      let others = bench.stub.exchanges.filter { $0.fields[.range] != nil }
      #expect(others.allSatisfy { $0.fields[.ifRange] == #""v1""# && $0.fields[.acceptEncoding] == "identity" })
      let completed = bench.progress.completed
      #expect(completed == completed.sorted() && completed.last == 700_000)
      #expect(bench.progress.totals.allSatisfy { $0 == 700_000 })
    }
  }

  @Test("A file is not split if the server does not permit it, or if splitting has no benefit")
  func single() async throws {
    var weak = film
    weak.tag = #"W/"v1""#
    var refusing = film
    refusing.fields[.acceptRanges] = "none"
    for film in [weak, refusing, FileOnServer(length: 1999)] {
      try await DownloadBench.with { bench in
        bench.serve(film)
        try await bench.download(.parallel())
        #expect(bench.ranges == [""] && bench.bytes(bench.target) == film.bytes)
      }
    }
    try await DownloadBench.with { bench in
      bench.serve(film)
      let request = Request<Content>.get("/film").latestWins("film")
      _ = try await bench.api.download(request, to: bench.target, options: .parallel())
      #expect(bench.ranges == [""])
    }
  }

  @Test("If a server ignores ranges, the file arrives unchanged after at most two complete responses")
  func ignored() async throws {
    try await DownloadBench.with { bench in
      serve(bench) { film, _ in film.whole() }
      let file = try await bench.download(.parallel())
      #expect(bench.bytes(bench.target) == film.bytes && bench.names == ["film.mp4"])
      #expect(file.size == 700_000 && bench.ranges.count <= 6)
    }
  }

  @Test(
    "If a server sends unusable parts, the file arrives unchanged after at most two complete responses",
    arguments: ["bytes */*", "bytes 0-9/700000", "", "204", "304", "501"])
  func unusable(_ part: String) async throws {
    try await DownloadBench.with { bench in
      serve(bench) { film, _ in Int(part).map { .status($0) } ?? film.part(from: 0, to: 10, stated: part) }
      let file = try await bench.download(.parallel())
      #expect(bench.bytes(bench.target) == film.bytes && bench.names == ["film.mp4"])
      #expect(file.size == 700_000 && bench.ranges.count <= 6)
    }
  }

  @Test("A file that changes during its download arrives without bytes of the old file", arguments: [200, 206, 416])
  func changed(_ status: Int) async throws {
    try await DownloadBench.with { bench in
      let next = { () -> FileOnServer in
        var next = FileOnServer(length: 500_000, seed: 7)
        next.tag = #""v2""#
        return next
      }()
      let isFirst = Mutex(true)
      let film = film
      reply(bench) { fields in
        let isFirst = isFirst.withLock { isFirst in
          defer { isFirst = false }
          return isFirst
        }
        if isFirst { return film.whole() }
        guard fields[.range] != nil, status != 200 else { return next.whole() }
        return status == 206 ? next.part(from: Self.start(of: fields) % 500_000) : next.unsatisfied()
      }
      try await bench.download(.parallel())
      #expect(bench.bytes(bench.target) == next.bytes && bench.names == ["film.mp4"])
    }
  }

  @Test("A range whose connection is lost continues where it was interrupted")
  func interrupted() async throws {
    try await DownloadBench.with { bench in
      var film = film
      film.pieceSize = 50_000
      let server = film
      reply(bench) { fields in
        let reply = server.reply(to: fields)
        return [175_000, 350_000].contains(Self.start(of: fields)) ? reply.failing(after: 2) : reply
      }
      // The ranges are so short that an idle lane cannot take over half of a range.
      var options = DownloadOptions.parallel()
      options.minimumRange = 100_000
      try await bench.download(options)
      #expect(bench.bytes(bench.target) == film.bytes)
      let starts = bench.stub.exchanges.map { Self.start(of: $0.fields) }
      #expect(starts.contains(275_000) && starts.contains(450_000))
    }
  }

  @Test("A download whose ranges stop receiving bytes fails and keeps its bytes; the same call continues")
  func givesUp() async throws {
    try await DownloadBench.with { bench in
      var film = film
      film.pieceSize = 50_000
      let server = film
      reply(bench) { server.reply(to: $0).failing(after: 1) }
      let error = await failure { try await bench.download(.parallel(continuations: 0)) }
      #expect(error?.code == .connectionLost && error?.transfer?.problem == .interrupted)
      let kept = try #require(error?.transfer?.keptBytes)
      #expect(kept >= 50_000 && kept < 700_000 && error?.transfer?.total == 700_000)
      #expect(bench.bytes(bench.target) == nil && bench.names == ["film.mp4.apus-part", "film.mp4.apus-part.json"])
      let before = bench.ranges.count
      bench.serve(film)
      let file = try await bench.download(.parallel())
      #expect(file.resumedBytes == kept && bench.bytes(bench.target) == film.bytes && bench.names == ["film.mp4"])
      #expect(!bench.ranges.dropFirst(before).contains(""))
    }
  }

  @Test("A range that the server rejects on one lane is requested by another lane", arguments: [429, 503])
  func rejected(_ status: Int) async throws {
    try await DownloadBench.with { bench in
      let first = Mutex(Set([175_000, 525_000]))
      serve(bench) { film, fields in
        let isRejected = first.withLock { $0.remove(Self.start(of: fields)) != nil }
        return isRejected ? .status(status) : film.reply(to: fields)
      }
      try await bench.download(.parallel())
      #expect(bench.bytes(bench.target) == film.bytes)
    }
  }

  @Test("Each range counts toward the client's concurrency limits, and a limit of one suffices", arguments: [0, 100])
  func limited(_ queueCapacity: Int) async throws {
    try await DownloadBench.with { bench in
      var limits = ConcurrencyLimits(tags: ["films": 1])
      limits.queueCapacity = queueCapacity
      let api = Client(
        environment: Environment(baseURL: "https://films.example"),
        pipeline: [.scheduling: SchedulingMiddleware(Scheduler(limits))], transport: bench.stub)
      bench.serve(film)
      let request = Request<Content>.get("/film").tag("films")
      let file = try await api.download(request, to: bench.target, options: .parallel())
      #expect(file.size == 700_000 && bench.bytes(bench.target) == film.bytes)
    }
  }

  @Test("If the server rejects all ranges, the rejection is the error, and the first range is kept")
  func rejectedAll() async throws {
    try await DownloadBench.with { bench in
      serve(bench) { _, _ in .status(403) }
      let error = await failure { try await bench.download(.parallel()) }
      #expect(error?.code == .rejected && error?.status == 403 && error?.transfer?.keptBytes == 175_000)
    }
  }

  /// Cancels a download in which each response stalls after three pieces. Returns the number of kept bytes.
  private func cancel(_ bench: DownloadBench, ranges: Int) async throws -> Int64 {
    var film = film
    film.pieceSize = 10_000
    let server = film
    reply(bench) { server.reply(to: $0).stalled(after: 3) }
    let task = Task { await failure { try await bench.download(.parallel(ranges)) } }
    try await waitWhile(bench.progress.completed.last ?? 0 < Int64(ranges) * 30_000)
    task.cancel()
    let error = await task.value
    #expect(error?.code == .cancelled && error?.cancellation == .caller)
    return try #require(error?.transfer?.keptBytes)
  }

  @Test(
    "Cancelling stops all ranges and keeps their bytes; the next call requests only the missing bytes",
    arguments: [1, 2, 4, 7])
  func cancelled(_ next: Int) async throws {
    try await DownloadBench.with { bench in
      let kept = try await cancel(bench, ranges: 4)
      #expect(kept == 120_000)
      let before = requestedBytes(bench)
      bench.serve(film)
      let file = try await bench.download(.parallel(next))
      #expect(file.resumedBytes == 120_000 && bench.bytes(bench.target) == film.bytes && bench.names == ["film.mp4"])
      // A download with one range requests no byte twice. With several ranges a lane may take over a part of a range
      // that was already requested.
      let again = requestedBytes(bench) - before
      #expect(next == 1 ? again == 580_000 : again >= 580_000)
    }
  }

  @Test("Bytes with gaps are discarded if the call does not resume or the file has changed")
  func discarded() async throws {
    try await DownloadBench.with { bench in
      _ = try await cancel(bench, ranges: 4)
      bench.serve(film)
      var options = DownloadOptions.parallel()
      options.resumes = false
      let file = try await bench.download(options)
      #expect(file.resumedBytes == 0 && bench.bytes(bench.target) == film.bytes)
    }
    try await DownloadBench.with { bench in
      _ = try await cancel(bench, ranges: 4)
      var next = FileOnServer(length: 650_000, seed: 3)
      next.tag = #""v2""#
      bench.serve(next)
      let file = try await bench.download(.parallel())
      #expect(file.resumedBytes == 0 && bench.bytes(bench.target) == next.bytes && bench.names == ["film.mp4"])
    }
  }

  @Test("A download that began with one range continues with several, and vice versa")
  func mixed() async throws {
    try await DownloadBench.with { bench in
      try await bench.interrupt(film, after: 300_000)
      bench.serve(film)
      let file = try await bench.download(.parallel())
      #expect(file.resumedBytes == 300_000 && bench.bytes(bench.target) == film.bytes)
      #expect(Set(bench.ranges).isSuperset(of: ["bytes=300000-", "bytes=400000-499999", "bytes=600000-699999"]))
    }
  }

  @Test("A digest of the complete file is verified when all bytes are on disk", arguments: [true, false])
  func digest(_ isRight: Bool) async throws {
    try await DownloadBench.with { bench in
      bench.serve(film)
      var options = DownloadOptions.parallel()
      let bytes = isRight ? film.bytes : Data("other".utf8)
      options.digest = FileDigest(.sha256, [UInt8](SHA256.hash(data: bytes)))
      let error = await failure { try await bench.download(options) }
      #expect(error?.transfer?.problem == (isRight ? nil : .digestMismatch))
      #expect(bench.names == (isRight ? ["film.mp4"] : []))
    }
  }

  @Test("The digest of each part's content is verified")
  func partDigest() async throws {
    try await DownloadBench.with { bench in
      serve(bench) { film, fields in
        var film = film
        film.fields[.contentDigest] = "sha-256=:\(Data(SHA256.hash(data: Data("other".utf8))).base64EncodedString()):"
        return film.reply(to: fields)
      }
      let error = await failure { try await bench.download(.parallel()) }
      #expect(error?.transfer?.problem == .digestMismatch && bench.names.isEmpty)
    }
  }

  @Test("After a part that exceeds its announced length the download starts over with one range")
  func excess() async throws {
    try await DownloadBench.with { bench in
      serve(bench) { film, fields in
        let start = Self.start(of: fields)
        var film = film
        film.fields[.contentLength] = "10"
        return film.part(from: start, to: start + 5000, stated: "bytes \(start)-\(start + 9)/700000")
      }
      let error = await failure { try await bench.download(.parallel(continuations: 0)) }
      #expect(error == nil && bench.bytes(bench.target) == film.bytes && bench.names == ["film.mp4"])
      #expect(bench.ranges.last == "")
    }
  }
}

extension HTTPField.Name {
  fileprivate static var contentDigest: Self { Self("Content-Digest") ?? .eTag }
}
