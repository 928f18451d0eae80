import ApusCore
import ApusTesting
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusTransfers

/// A temporary folder, and a client whose server is scripted by the test.
struct DownloadBench: Sendable {
  let folder: String
  let stub = StubTransport()
  let progress = ProgressLog()

  /// Runs a test in a folder that is removed afterwards.
  static func with<Result>(_ test: (DownloadBench) async throws -> Result) async throws -> Result {
    let folder = FileManager.default.temporaryDirectory.path + "/apus-transfers-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    return try await test(DownloadBench(folder: folder))
  }

  var target: String { folder + "/film.mp4" }
  var partial: String { target + ".apus-part" }
  var record: String { partial + ".json" }

  /// A client that continues without delays.
  var api: Client {
    var settings = ClientSettings()
    settings.runtime.random = { 0 }
    return Client(
      environment: Environment(baseURL: "https://films.example"), transport: stub, settings: settings)
  }

  /// Replies to all requests with one reply after the other, and repeats the last reply.
  func reply(_ replies: StubReply...) {
    stub.on(.get, "/film", replies: replies)
  }

  /// Replies to all requests as a server with ranges does.
  func serve(_ file: FileOnServer) {
    stub.on(where: { _, _ in true }, reply: { file.reply(to: $0.fields) })
  }

  @discardableResult
  func download(_ options: DownloadOptions = DownloadOptions()) async throws(CallError) -> DownloadedFile {
    try await api.download(Request<Content>.get("/film"), to: target, options) { progress.add($0, $1) }
  }

  /// Downloads the first bytes of a file, then loses the connection.
  func interrupt(_ file: FileOnServer, after count: Int) async throws {
    var file = file
    file.pieceSize = count
    reply(file.whole().failing(after: 1))
    let error = await failure { try await download(DownloadOptions.once) }
    #expect(error?.transfer?.keptBytes == Int64(count))
  }

  func bytes(_ path: String) -> Data? { FileManager.default.contents(atPath: path) }

  /// The names of the files in the folder.
  var names: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []).sorted()
  }

  /// The value of `Range` in each request; an empty text if the request has no range.
  var ranges: [String] { stub.exchanges.map { $0.fields[.range] ?? "" } }

  /// Returns the permission bits of a file.
  static func mode(of path: String) -> UInt32 {
    var status = stat()
    return lstat(path, &status) == 0 ? UInt32(status.st_mode) & 0o777 : 0
  }
}

extension DownloadOptions {
  /// Options without continuations.
  static var once: DownloadOptions {
    var options = DownloadOptions()
    options.maximumContinuations = 0
    return options
  }

  /// Options with several ranges, even for small files.
  static func parallel(_ ranges: Int = 4, continuations: Int = 5) -> DownloadOptions {
    var options = DownloadOptions()
    (options.maximumParallelRanges, options.minimumRange, options.maximumContinuations) = (ranges, 1000, continuations)
    return options
  }
}

/// The progress reported by a download.
final class ProgressLog: Sendable {
  private let reports = Mutex<[(Int64, Int64?)]>([])

  func add(_ completed: Int64, _ total: Int64?) {
    reports.withLock { $0.append((completed, total)) }
  }

  var completed: [Int64] { reports.withLock { $0.map(\.0) } }
  var totals: [Int64?] { reports.withLock { $0.map(\.1) } }
  /// The completed fractions; 0 where the total is unknown.
  var fractions: [Double] {
    reports.withLock { $0.map { TransferProgress(completed: $0, total: $1).fraction ?? 0 } }
  }
}
