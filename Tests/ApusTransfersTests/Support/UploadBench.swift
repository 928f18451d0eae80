import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import TestSupport

@testable import ApusTransfers

/// The response of a server that implements the IETF draft.
struct StoredFilm: Codable, Sendable, Equatable {
  let size: Int
}

/// A file to upload, a store, and a client of a server.
struct UploadBench: Sendable {
  let bench: DownloadBench
  let api: Client

  static func with<Result>(
    _ server: TestServer, observers: [any CallObserver] = [], _ test: (UploadBench) async throws -> Result
  ) async throws -> Result {
    try await DownloadBench.with { bench in
      var settings = ClientSettings()
      settings.runtime.random = { 0 }
      settings.observers = observers
      let transport = NIOTransport()
      let environment = Environment(baseURL: try BaseURL(server.origin))
      let api = Client(environment: environment, transport: transport, settings: settings)
      return try await test(UploadBench(bench: bench, api: api))
    }
  }

  var path: String { bench.folder + "/film.mp4" }
  var store: FileTransferStore { FileTransferStore(bench.folder + "/state/uploads") }
  var options: UploadOptions { UploadOptions(store: store) }

  /// The names of the files in the store's folder.
  var records: [String] { (try? FileManager.default.contentsOfDirectory(atPath: store.path))?.sorted() ?? [] }

  /// Writes the file to upload, and returns its bytes.
  @discardableResult
  func write(_ length: Int, seed: UInt8 = 0) throws -> [UInt8] {
    let bytes = FileOnServer(length: length, seed: seed).bytes
    try bytes.write(to: URL(filePath: path))
    return [UInt8](bytes)
  }

  var film: Request<Void> { .post("/files", content: .file(path)) }
}

extension UploadServer.Dialect {
  var uploadProtocol: UploadProtocol { self == .tus ? .tus() : .ietf() }
}
