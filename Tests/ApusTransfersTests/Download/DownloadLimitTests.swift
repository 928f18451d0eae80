import ApusCore
import ApusTesting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("The maximum size of a download")
struct DownloadLimitTests {
  private let film = FileOnServer(length: 700_000)

  private func options(_ maximum: Int64?, ranges: Int = 1) -> DownloadOptions {
    var options = ranges > 1 ? DownloadOptions.parallel(ranges) : .once
    options.maximumSize = maximum
    return options
  }

  @Test("A larger file is refused when the server states its length, before anything is written", arguments: [1, 4])
  func stated(_ ranges: Int) async throws {
    try await DownloadBench.with { bench in
      bench.serve(film)
      let error = await failure { try await bench.download(options(699_999, ranges: ranges)) }
      #expect(error?.code == .contentTooLarge && error?.requestState == .responded)
      #expect(error?.transfer?.problem == .fileTooLarge(maximum: 699_999) && error?.transfer?.keptBytes == 0)
      #expect(error?.transfer?.cause == "the file is larger than 699999 bytes")
      #expect(bench.names.isEmpty && bench.progress.completed.isEmpty && bench.ranges == [""])
      let file = try await bench.download(options(700_000, ranges: ranges))
      #expect(file.size == 700_000 && bench.bytes(bench.target) == film.bytes)
    }
  }

  @Test("A file of unknown length is refused at the first byte beyond the maximum, and its bytes are removed")
  func counted() async throws {
    try await DownloadBench.with { bench in
      bench.reply(unstated())
      let error = await failure { try await bench.download(options(699_999)) }
      #expect(error?.transfer?.problem == .fileTooLarge(maximum: 699_999) && bench.names.isEmpty)
      let file = try await bench.download(options(700_000))
      #expect(file.size == 700_000)
    }
  }

  /// Returns a reply with the file but without its length.
  private func unstated() -> StubReply {
    let pieces = stride(from: 0, to: film.bytes.count, by: 1000).map {
      film.bytes[$0..<min($0 + 1000, film.bytes.count)]
    }
    return .pieces(pieces)
  }

  @Test("A continued download is refused if the complete file is too large, and the bytes on disk are kept")
  func continued() async throws {
    try await DownloadBench.with { bench in
      try await bench.interrupt(film, after: 300_000)
      bench.serve(film)
      let error = await failure { try await bench.download(options(500_000)) }
      #expect(error?.transfer?.problem == .fileTooLarge(maximum: 500_000) && error?.transfer?.keptBytes == 300_000)
      let file = try await bench.download(options(nil))
      #expect(file.resumedBytes == 300_000 && bench.bytes(bench.target) == film.bytes)
    }
  }

  @Test("The content limit of the endpoint applies; the client's default does not")
  func endpoint() async throws {
    try await DownloadBench.with { bench in
      bench.serve(film)
      let limited = Request<Content>.get("/film").contentLimit(600_000)
      for maximum in [nil, 650_000] as [Int64?] {
        let error = await failure {
          try await bench.api.download(limited, to: bench.target, options: options(maximum))
        }
        #expect(error?.transfer?.problem == .fileTooLarge(maximum: 600_000))
      }
      var settings = ClientSettings()
      settings.contentLimit = 1000
      let api = Client(
        environment: Environment(baseURL: "https://films.example"), transport: bench.stub, settings: settings)
      let file = try await api.download("/film", to: bench.target)
      #expect(file.size == 700_000)
    }
  }

  @Test("A complete file that awaits its final name is refused if it exceeds the maximum size")
  func complete() async throws {
    try await DownloadBench.with { bench in
      bench.reply(unstated())
      // Creates a file with the final name while the download runs.
      var taking = options(nil)
      let target = bench.target
      taking.willPublish = { _ in _ = FileManager.default.createFile(atPath: target, contents: nil) }
      let taken = await failure { try await bench.download(taking) }
      #expect(taken?.transfer?.problem == .fileExists && taken?.transfer?.keptBytes == 700_000)
      try FileManager.default.removeItem(atPath: target)
      let error = await failure { try await bench.download(options(600_000)) }
      #expect(error?.transfer?.problem == .fileTooLarge(maximum: 600_000) && bench.ranges.count == 1)
      let file = try await bench.download(options(700_000))
      #expect(file.size == 700_000 && bench.ranges.count == 1)
    }
  }
}
