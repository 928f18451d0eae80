#if NIO && Transfers
import ApusCore
import ApusTestServer
import ApusTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusTransfers

/// An upload by the IETF's draft, whose value is in the response.
private struct DraftClip: Endpoint, TransferEndpoint {
  let path: String
  var request: Request<StoredFilm> { .post("/files", content: .file(path)) }
}

@Suite("Queued uploads", .timeLimit(.minutes(3)))
struct TransferUploadsTests {
  @Test("An upload that loses its process continues in the next one, which gets the value of the response")
  func continued() async throws {
    let isFirst = Mutex(true)
    let faults = UploadServer.stalls(after: [100_000]) { isFirst.withLock { $0 } ? 0 : 1 }
    try await UploadServer.with(.ietf, faults: faults) { uploads, server in
      try await UploadBench.with(server) { bench in
        let bytes = try bench.write(8_000_000)
        let sizes = Mutex<[Int]>([])
        func queue() async throws -> Transfers {
          try await Transfers(bench.api, store: bench.store) {
            $0.uploads(of: DraftClip.self, by: .ietf) { _, result in sizes.withLock { $0.append(result.value.size) } }
          }
        }
        let first = try await queue()
        let id = try await first.upload(DraftClip(path: bench.path))
        // The transfer's own record, and that of the upload: its interim response has arrived.
        try await waitWhile(bench.records.filter { $0.hasSuffix(".json") }.count < 2)
        try await waitWhile(uploads.offset(of: "/files/upload-0") < 100_000)
        await first.close()
        isFirst.withLock { $0 = false }
        let next = try await queue()
        try await next.completion(of: id)
        #expect(uploads.has(bytes) && sizes.withLock { $0 } == [8_000_000])
        #expect(bench.records.isEmpty)
      }
    }
  }

  @Test("Until the app knows of a complete upload its record stays, so that nothing is sent a second time")
  func unfinishedClosure() async throws {
    try await UploadServer.with(.tus) { uploads, server in
      try await UploadBench.with(server) { bench in
        let bytes = try bench.write(100_000)
        let (entered, gate) = (Gate(), Gate())
        let transfers = try await Transfers(bench.api, store: bench.store) {
          $0.uploads(of: Clip.self, by: .tus) { _, _ in
            entered.open()
            try? await gate.wait()
          }
        }
        let id = try await transfers.upload(Clip(path: bench.path))
        try await entered.wait()
        // As a process that ends here would leave them.
        let left = bench.bench.folder + "/left"
        try FileManager.default.copyItem(atPath: bench.store.path, toPath: left)
        gate.open()
        try? await transfers.completion(of: id)
        try await waitWhile(!transfers.all.isEmpty)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: left)
        let told = Mutex<[Int64]>([])
        let next = try await Transfers(bench.api, store: FileTransferStore(left)) {
          $0.uploads(of: Clip.self, by: .tus) { _, result in told.withLock { $0.append(result.size) } }
        }
        try await waitWhile(!next.all.isEmpty)
        #expect(told.withLock { $0 } == [100_000])
        #expect(uploads.has(bytes) && uploads.received == 100_000)
        #expect(server.exchanges.map(\.method) == ["POST", "PATCH", "HEAD"])
      }
    }
  }

  @Test("An upload whose file is gone fails, and can be cancelled")
  func fileGone() async throws {
    try await UploadServer.with(.tus) { _, server in
      try await UploadBench.with(server) { bench in
        let transfers = try await Transfers(bench.api, store: bench.store) { $0.uploads(of: Clip.self, by: .tus) }
        let id = try await transfers.upload(Clip(path: bench.path))
        let error = await failure { try await transfers.completion(of: id) }
        #expect(error != nil && server.exchanges.isEmpty)
        try await transfers.cancel(id)
        #expect(transfers.all.isEmpty && bench.records.isEmpty)
      }
    }
  }
}
#endif
