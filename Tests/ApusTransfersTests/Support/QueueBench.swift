import ApusCore
import ApusMiddleware
import ApusTesting
import Foundation
import Synchronization
import TestSupport

@testable import ApusTransfers

/// A film to download.
struct FilmFile: Endpoint, TransferEndpoint, Equatable {
  var id = 7
  var request: Request<Content> { .get("/films/\(id)") }
}

/// A file to upload.
struct Clip: Endpoint, TransferEndpoint, Equatable {
  let path: String
  var request: Request<Void> { .post("/files", content: .file(path)) }
}

/// A folder, a client whose server is scripted by the test, and queues of transfers with one store.
final class QueueBench: Sendable {
  let bench: DownloadBench
  private let log = Mutex<[String]>([])

  private init(_ bench: DownloadBench) {
    self.bench = bench
  }

  /// Runs a test in a folder that is removed afterwards.
  static func with<Result>(_ test: (QueueBench) async throws -> Result) async throws -> Result {
    try await DownloadBench.with { try await test(QueueBench($0)) }
  }

  var stub: StubTransport { bench.stub }
  var store: FileTransferStore { FileTransferStore(bench.folder + "/state") }

  /// The transfers that the queues have reported as complete.
  var completed: [String] { log.withLock { $0 } }

  /// Creates a queue that declares films and clips.
  func queue(
    account: String? = nil, api: Client? = nil, _ configure: (inout TransfersConfiguration) -> Void = { _ in }
  ) async throws(CallError) -> Transfers {
    try await Transfers(api ?? bench.api, store: store, account: account) { configuration in
      configuration.downloads(of: FilmFile.self) { [self] film, file in
        log.withLock { $0.append("film \(film.id) \(file.size)") }
      }
      configuration.uploads(of: Clip.self, by: .tus()) { [self] _, result in
        log.withLock { $0.append("clip \(result.size) \(result.url ?? "")") }
      }
      configure(&configuration)
    }
  }

  func path(_ film: Int) -> String { "\(bench.folder)/film-\(film).mp4" }

  /// The names of the records of transfers.
  var records: [String] {
    ((try? FileManager.default.contentsOfDirectory(atPath: store.path)) ?? []).filter { $0.hasSuffix(".json") }.sorted()
  }

  /// The content of all files of the store.
  var stored: String {
    records.map { (bench.bytes(store.path + "/" + $0)).map { String(decoding: $0, as: UTF8.self) } ?? "" }.joined()
  }
}

extension Transfers {
  /// Waits until a transfer has left the queue or has failed. Returns its error.
  func outcome(of id: Transfer.ID) async throws -> CallError? {
    try await waitWhile(self[id].map { $0.state.failure == nil } ?? false)
    return self[id]?.state.failure
  }

  /// Waits until the state of a transfer satisfies a condition.
  func wait(_ id: Transfer.ID, until condition: (Transfer.State) -> Bool) async throws {
    try await waitWhile(!(self[id].map { condition($0.state) } ?? false))
  }
}

extension Transfer.State {
  var isRunning: Bool { if case .running = self { true } else { false } }
  var isWaiting: Bool { if case .waiting = self { true } else { false } }
  var isPaused: Bool { if case .paused = self { true } else { false } }
  /// The error of a failed transfer.
  var failure: CallError? { if case .failed(let error) = self { error } else { nil } }
}
