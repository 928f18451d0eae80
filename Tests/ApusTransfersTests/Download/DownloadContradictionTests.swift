import ApusCore
import ApusTesting
import Crypto
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Downloads from servers that change or contradict themselves")
struct DownloadContradictionTests {
  private let film = FileOnServer(length: 700_000)

  /// Interrupts a download after 300,000 bytes and continues it with the given replies.
  private func resumed(_ replies: StubReply...) async throws -> (file: DownloadedFile?, error: CallError?, bench: Seen)
  {
    try await DownloadBench.with { bench in
      try await bench.interrupt(film, after: 300_000)
      bench.stub.on(.get, "/film", replies: replies)
      var file: DownloadedFile?
      let error = await failure { file = try await bench.download(.once) }
      return (file, error, Seen(bytes: bench.bytes(bench.target), ranges: bench.ranges, names: bench.names))
    }
  }

  private struct Seen {
    let bytes: Data?
    let ranges: [String]
    let names: [String]
  }

  private func partially(_ change: (inout FileOnServer) -> Void, status: Int = 206) -> StubReply {
    var film = film
    change(&film)
    return status == 206 ? film.part(from: 300_000) : film.whole()
  }

  @Test("A changed file arrives completely, with the entity tag of the new file")
  func changed() async throws {
    var next = FileOnServer(length: 500_000, seed: 7)
    next.tag = #""v2""#
    let result = try await resumed(next.whole())
    #expect(result.file?.field("ETag") == #""v2""# && result.file?.resumedBytes == 0)
    #expect(result.bench.bytes == next.bytes && result.bench.names == ["film.mp4"])
  }

  @Test(
    "The progress never decreases when the file changes on the server, and ends at the new length",
    arguments: [50_000, 5_000_000])
  func changedLength(_ length: Int) async throws {
    try await DownloadBench.with { bench in
      var next = FileOnServer(length: length, seed: 7)
      next.tag = #""v2""#
      var first = film
      first.pieceSize = 100_000
      bench.reply(first.whole().failing(after: 5), next.whole())
      let reporter = ProgressReporter()
      let progress = reporter.foundationProgress()
      let seen = ProgressLog()
      let foundation = Mutex<[Double]>([])
      reporter.observe { step in
        seen.add(step.completed, step.total)
        foundation.withLock { $0.append(progress.fractionCompleted) }
      }
      let request = Request<Content>.get("/film").downloadProgress(reporter)
      _ = try await bench.api.download(request, to: bench.target, DownloadOptions()) { bench.progress.add($0, $1) }
      for log in [seen, bench.progress] {
        #expect(log.fractions == log.fractions.sorted() && log.fractions.last == 1)
        #expect(log.fractions.filter { $0 == 1 }.count == 1)
        #expect(log.completed.last == Int64(length) && log.totals.last == Int64(length))
      }
      let fractions = foundation.withLock { $0 }
      #expect(fractions == fractions.sorted() && fractions.last == 1 && progress.isFinished)
      #expect(bench.bytes(bench.target) == next.bytes)
    }
  }

  @Test("If a server ignores the range and sends the complete file, only the missing rest is written")
  func ignored() async throws {
    let result = try await resumed(film.whole())
    #expect(result.bench.bytes == film.bytes && result.file?.resumedBytes == 300_000)
    let complete = try await resumed(film.whole().failing(after: 500), film.part(from: 500_000))
    #expect(complete.error?.transfer?.keptBytes == 500_000)
  }

  @Test("A file with a digest is verified completely even if the server ignores the range")
  func ignoredWithDigest() async throws {
    let name = try #require(HTTPField.Name("Repr-Digest"))
    for (bytes, isRight) in [(film.bytes, true), (Data("other".utf8), false)] {
      let digest = Data(SHA256.hash(data: bytes)).base64EncodedString()
      let reply = partially({ $0.fields[name] = "sha-256=:\(digest):" }, status: 200)
      let result = try await resumed(reply)
      #expect(result.error?.transfer?.problem == (isRight ? nil : .digestMismatch))
      #expect(result.bench.bytes == (isRight ? film.bytes : nil))
    }
  }

  @Test(
    "A part of another file is discarded, and the complete file is requested",
    arguments: [
      HTTPFields([HTTPField(name: .eTag, value: #""v2""#)]),
      HTTPFields([HTTPField(name: .contentEncoding, value: "gzip")]),
    ])
  func otherPart(_ fields: HTTPFields) async throws {
    let result = try await resumed(partially { $0.fields = fields }, film.whole())
    #expect(result.bench.ranges == ["", "bytes=300000-", ""])
    #expect(result.bench.bytes == film.bytes)
  }

  @Test("A part that states another file length, or no entity tag, is discarded, and the complete file is requested")
  func otherLength() async throws {
    for reply in [film.part(from: 300_000, stated: "bytes 300000-699999/700001"), partially { $0.tag = nil }] {
      let result = try await resumed(reply, film.whole())
      #expect(result.bench.ranges == ["", "bytes=300000-", ""])
      #expect(result.bench.bytes == film.bytes)
    }
  }

  @Test(
    "An unrequested part is discarded, and the complete file is requested",
    arguments: [
      "bytes 299999-699999/700000", "bytes 0-699999/700000", "bytes 300000-/700000", "items 300000-699999/700000",
      "bytes */*", "bytes */700000", "",
    ])
  func otherRange(_ stated: String) async throws {
    let result = try await resumed(film.part(from: 300_000, stated: stated), film.whole())
    #expect(result.bench.ranges == ["", "bytes=300000-", ""] && result.file?.resumedBytes == 300_000)
    #expect(result.bench.bytes == film.bytes && result.bench.names == ["film.mp4"])
  }

  @Test("After a response with several ranges the complete file is requested")
  func multipart() async throws {
    var fields = HTTPFields()
    fields[.contentType] = "multipart/byteranges; boundary=x"
    fields[.eTag] = film.tag
    let result = try await resumed(.status(206, fields: fields, content: "--x--"), film.whole())
    #expect(result.bench.ranges == ["", "bytes=300000-", ""] && result.bench.bytes == film.bytes)
  }

  @Test("A multipart response is recognized by its media type, even if it states a single range")
  func multipartWithRange() async throws {
    let reply = partially {
      $0.fields[.contentType] = "Multipart/ByteRanges; boundary=x"
      $0.bytes = Data(repeating: 7, count: 700_000)
    }
    let result = try await resumed(reply, film.whole())
    #expect(result.bench.ranges == ["", "bytes=300000-", ""] && result.bench.bytes == film.bytes)
  }

  @Test("A part that exceeds its range is discarded completely, because its bytes may be at other offsets than stated")
  func excessivePart() async throws {
    var film = film
    film.fields[.contentLength] = "100000"
    let reply = film.part(from: 0, stated: "bytes 300000-399999/700000")
    let result = try await resumed(reply, self.film.whole())
    #expect(result.bench.ranges == ["", "bytes=300000-", ""] && result.bench.bytes == film.bytes)
    let kept = try await resumed(reply, .status(503))
    #expect(kept.error?.transfer?.keptBytes == 300_000)
    try await DownloadBench.with { bench in
      try await bench.interrupt(self.film, after: 300_000)
      bench.reply(reply, .status(503))
      _ = await failure { try await bench.download(.once) }
      #expect(bench.bytes(bench.partial) == self.film.bytes.prefix(300_000))
    }
  }

  @Test(
    "A status that rejects only the range is followed by a request for the complete file",
    arguments: [204, 205, 304, 400, 501])
  func refusedRange(_ status: Int) async throws {
    let result = try await resumed(.status(status), film.whole())
    #expect(result.bench.ranges == ["", "bytes=300000-", ""] && result.bench.bytes == film.bytes)
  }

  @Test("If the complete file cannot be requested after an unusable part, the bytes on disk are kept")
  func keptForNow() async throws {
    for reply in [StubReply.failure(TransportError(.connectionLost, requestState: .maybeSent)), .status(503)] {
      let result = try await resumed(film.part(from: 300_000, stated: "bytes */*"), reply)
      #expect(result.bench.ranges == ["", "bytes=300000-", ""])
      #expect(result.error?.transfer?.problem == .interrupted && result.error?.transfer?.keptBytes == 300_000)
      #expect(result.bench.names == ["film.mp4.apus-part", "film.mp4.apus-part.json"])
    }
  }

  @Test("If the complete file is interrupted after an unusable part, no byte on disk is lost", arguments: [2, 5])
  func brokenOff(_ pieces: Int) async throws {
    var film = film
    film.pieceSize = 100_000
    let result = try await resumed(film.part(from: 300_000, stated: "bytes */*"), film.whole().failing(after: pieces))
    #expect(result.error?.transfer?.keptBytes == (pieces == 2 ? 300_000 : 500_000))
    #expect(result.error?.description.contains("the same call continues") == true)
  }

  @Test("If a file changes and the server has no usable ranges, the error states that no bytes are kept")
  func nothingKept() async throws {
    var next = film
    (next.tag, next.pieceSize) = (#""v2""#, 100_000)
    let result = try await resumed(film.part(from: 300_000, stated: "bytes */*"), next.whole().failing(after: 2))
    #expect(result.error?.transfer?.keptBytes == 0 && result.bench.names.isEmpty)
    #expect(result.error?.description.contains("nothing is kept; the same call starts again") == true)
  }

  @Test("The error of a rejected continuation states that the download can start over")
  func rejected() async throws {
    let result = try await resumed(.status(403))
    #expect(result.error?.code == .rejected && result.error?.transfer?.keptBytes == 300_000)
    #expect(
      result.error?.detail.hasSuffix("the same call continues, or starts over with `resumes` set to false") == true)
  }

  @Test("The bytes of a shorter range than requested are kept, and the rest is requested")
  func shorter() async throws {
    let result = try await resumed(film.part(from: 300_000, to: 400_000), film.part(from: 400_000))
    #expect(result.bench.ranges == ["", "bytes=300000-", "bytes=400000-"])
    #expect(result.bench.bytes == film.bytes)
  }

  @Test("416 completes the download if all bytes are on disk")
  func complete() async throws {
    try await DownloadBench.with { bench in
      try await bench.interrupt(film, after: 300_000)
      try film.bytes.write(to: URL(filePath: bench.partial))
      bench.serve(film)
      let file = try await bench.download()
      #expect(bench.ranges == ["", "bytes=700000-"] && file.status == 416)
      #expect(bench.bytes(bench.target) == film.bytes && file.mediaType == "video/mp4")
    }
  }

  @Test("416 for a file of another length starts the download over")
  func unsatisfied() async throws {
    var shorter = FileOnServer(length: 200_000)
    shorter.tag = #""v2""#
    let result = try await resumed(shorter.unsatisfied(), shorter.whole())
    #expect(result.bench.bytes == shorter.bytes)
  }

  @Test("A file that changes at every request ends the download")
  func unstable() async throws {
    let reply = partially { $0.tag = #""v2""# }
    try await DownloadBench.with { bench in
      var film = film
      film.pieceSize = 300_000
      try await bench.interrupt(film, after: 300_000)
      // Each response with the complete file is interrupted after its first piece. Each response with a range belongs
      // to another file.
      let whole = film.whole().failing(after: 1)
      bench.stub.on(where: { _, _ in true }) { $0.fields[.range] == nil ? whole : reply }
      let error = await failure { try await bench.download() }
      #expect(error?.code == .malformedResponse && error?.transfer?.problem == .unstable)
    }
  }

  @Test("Content that ends before its announced length is not accepted as a file")
  func truncated() async throws {
    try await DownloadBench.with { bench in
      var longer = film
      longer.fields[.contentLength] = "700001"
      bench.reply(longer.whole())
      let error = await failure { try await bench.download(.once) }
      #expect(error?.code == .malformedResponse && error?.transfer?.problem == .wrongLength)
      #expect(error?.transfer?.keptBytes == 700_000 && error?.transfer?.total == 700_001)
      #expect(bench.bytes(bench.target) == nil)
    }
  }

  @Test("Content beyond its announced length is rejected")
  func beyond() async throws {
    try await DownloadBench.with { bench in
      var shorter = film
      shorter.fields[.contentLength] = "699999"
      bench.reply(shorter.whole())
      let error = await failure { try await bench.download(.once) }
      #expect(error?.transfer?.problem == .wrongLength && bench.bytes(bench.target) == nil)
    }
  }

  @Test("Content with a coding, such as a compressed archive, is saved as it was sent", arguments: [nil, "gzip"])
  func coded(_ accepted: String?) async throws {
    try await DownloadBench.with { bench in
      bench.reply(partially({ $0.fields[.contentEncoding] = "gzip" }, status: 200))
      var request = Request<Content>.get("/film")
      if let accepted { request = request.field("Accept-Encoding", accepted) }
      let file = try await bench.api.download(request, to: bench.target)
      #expect(file.size == 700_000 && file.field("Content-Encoding") == "gzip")
      #expect(bench.bytes(bench.target) == film.bytes && bench.names == ["film.mp4"])
      #expect(bench.stub.exchanges.map { $0.fields[.acceptEncoding] } == [accepted ?? "identity"])
    }
  }

  @Test("A response without content is an error", arguments: [204, 205])
  func noFile(_ status: Int) async throws {
    try await DownloadBench.with { bench in
      bench.reply(.status(status))
      let error = await failure { try await bench.download() }
      #expect(error?.transfer?.problem == .unexpectedStatus(status) && bench.names.isEmpty)
    }
  }

  @Test("An unrequested part is an error")
  func unrequested() async throws {
    try await DownloadBench.with { bench in
      bench.reply(film.part(from: 0))
      let error = await failure { try await bench.download() }
      #expect(error?.transfer?.problem == .unusableRange && bench.names.isEmpty)
    }
  }
}
