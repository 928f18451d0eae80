import ApusCore
import ApusMiddleware
import ApusTestServer
import ApusTesting
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ApusTransfers

/// An upload by the IETF draft, whose value is read from the response.
private struct DraftClip: Endpoint, TransferEndpoint {
  let path: String
  var request: Request<StoredFilm> { .post("/files", content: .file(path)) }
}

/// A log of the changes of the records in a store.
private final class StoreLog: Sendable {
  private let log = Mutex<[(name: String, content: Data?)]>([])

  /// Returns the store with a function that logs the changes of its records.
  func store(_ store: FileTransferStore) -> FileTransferStore {
    var store = store
    store.didWrite = { [self] name, content in log.withLock { $0.append((name, content)) } }
    return store
  }

  /// The records of transfers in the log.
  var contents: [TransferRecord] { log.withLock { $0.compactMap { $0.content.flatMap { TransferRecord($0) } } } }

  /// The changes in the log. Each change is described by the kind of its record and the kind of the change.
  var changes: [String] {
    log.withLock(\.self).map { name, content in
      guard name.hasPrefix("transfer-") else { return content == nil ? "upload removed" : "upload" }
      guard let record = content.flatMap({ TransferRecord($0) }) else { return "transfer removed" }
      return record.failure != nil ? "transfer failed" : record.uploaded != nil ? "transfer uploaded" : "transfer"
    }
  }
}

@Suite("Queued uploads", .timeLimit(.minutes(3)))
struct TransferUploadsTests {
  @Test("An upload whose process ended continues in the next process, which receives the value of the response")
  func continued() async throws {
    let isFirst = Mutex(true)
    let faults = UploadServer.stalls(after: [100_000]) { isFirst.withLock { $0 } ? 0 : 1 }
    try await UploadServer.with(.ietf, faults: faults) { uploads, server in
      try await UploadBench.with(server) { bench in
        let bytes = try bench.write(8_000_000)
        let sizes = Mutex<[Int]>([])
        func queue() async throws -> Transfers {
          try await Transfers(bench.api, store: bench.store) {
            $0.uploads(of: DraftClip.self, by: .ietf()) { _, result in sizes.withLock { $0.append(result.value.size) } }
          }
        }
        let first = try await queue()
        let id = try await first.upload(DraftClip(path: bench.path))
        // The two records are those of the transfer and of the upload, whose interim response has arrived.
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

  @Test("A complete upload that may not have been reported is reported by the next process, without a request")
  func unfinishedClosure() async throws {
    try await UploadServer.with(.tus) { uploads, server in
      try await UploadBench.with(server) { bench in
        let bytes = try bench.write(100_000)
        let (entered, gate) = (Gate(), Gate())
        let transfers = try await Transfers(bench.api, store: bench.store) {
          $0.uploads(of: Clip.self, by: .tus()) { _, _ in
            entered.open()
            try? await gate.wait()
          }
        }
        let id = try await transfers.upload(Clip(path: bench.path))
        try await entered.wait()
        // Copies the files, as a process that ends here would leave them.
        let left = bench.bench.folder + "/left"
        try FileManager.default.copyItem(atPath: bench.store.path, toPath: left)
        gate.open()
        try? await transfers.completion(of: id)
        try await waitWhile(!transfers.all.isEmpty)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: left)
        let notified = Mutex<[String]>([])
        let next = try await Transfers(bench.api, store: FileTransferStore(left)) {
          $0.uploads(of: Clip.self, by: .tus()) { _, result in
            notified.withLock { $0.append("\(result.size) \(result.resumedBytes) \(result.url ?? "")") }
          }
        }
        try await waitWhile(!next.all.isEmpty)
        #expect(notified.withLock { $0 } == ["100000 100000 \(server.origin)/files/upload-0"])
        #expect(uploads.has(bytes) && uploads.received == 100_000)
        #expect(server.exchanges.map(\.method) == ["POST", "PATCH"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: left).isEmpty)
      }
    }
  }

  @Test(
    "A complete upload with an unreadable response fails, is not resent by the next process, and restarts on resume"
  )
  func unreadableResponse() async throws {
    let replies = { @Sendable (request: RecordedRequest) -> Reply? in
      request.number == 0 ? .text("no film", status: 201, fields: ["Upload-Complete": "?1"]) : nil
    }
    try await UploadServer.with(.ietf, override: replies) { uploads, server in
      try await UploadBench.with(server) { bench in
        try bench.write(1000)
        let sizes = Mutex<[Int]>([])
        func queue(_ store: FileTransferStore) async throws -> Transfers {
          try await Transfers(bench.api, store: store) {
            $0.uploads(of: DraftClip.self, by: .ietf()) { _, result in sizes.withLock { $0.append(result.value.size) } }
          }
        }
        let log = StoreLog()
        let transfers = try await queue(log.store(bench.store))
        let id = try await transfers.upload(DraftClip(path: bench.path))
        let error = try await transfers.outcome(of: id)
        #expect(error?.code == .decoding)
        await transfers.close()
        // The record is that of a process that ended immediately after the response.
        let record = try #require(log.contents.first { $0.uploaded != nil })
        #expect(record.failure == nil && record.uploaded?.size == 1000)
        let path = "\(bench.store.path)/transfer-\(id.rawValue).json"
        try #require(record.encoded()).write(to: URL(filePath: path))
        let next = try await queue(bench.store)
        let lost = try await next.outcome(of: id)
        #expect(lost?.transfer?.problem == .responseLost && server.exchanges.count == 1)
        await next.close()
        let stored = try #require(bench.bench.bytes(path).flatMap { TransferRecord($0) })
        #expect(stored.failure != nil && stored.uploaded == nil)
        let last = try await queue(bench.store)
        try await last.resume(id)
        #expect(try await last.outcome(of: id) == nil)
        #expect(server.exchanges.count == 2 && sizes.withLock { $0 } == [1000] && bench.records.isEmpty)
      }
    }
  }

  @Test("An upload whose request can no longer be created stays complete until the app is notified")
  func unavailableRequest() async throws {
    struct Linked: TransferEndpoint {
      let path: String
      func request(by client: Client) async throws -> Request<Void> {
        let link = try await client.send(Request<String>.get("/link"))
        return .post(.url(link), content: .file(path))
      }
    }
    let origin = Mutex("")
    let replies = { @Sendable (request: RecordedRequest) -> Reply? in
      guard request.method == "GET" else { return .status(201) }
      return request.number == 2 ? .status(404) : .text(origin.withLock(\.self) + "/files")
    }
    try await UploadServer.with(.ietf, override: replies) { _, server in
      origin.withLock { $0 = server.origin }
      try await UploadBench.with(server) { bench in
        try bench.write(1000)
        let notified = Mutex(0)
        let (gate, entered) = (Gate(), Gate())
        let transfers = try await Transfers(bench.api, store: bench.store) {
          $0.uploads(of: Linked.self, by: .ietf()) { _, _ in
            entered.open()
            try? await gate.wait()
          }
        }
        let id = try await transfers.upload(Linked(path: bench.path))
        try await entered.wait()
        let left = bench.bench.folder + "/left"
        try FileManager.default.copyItem(atPath: bench.store.path, toPath: left)
        gate.open()
        try await waitWhile(!transfers.all.isEmpty)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: left)
        let next = try await Transfers(bench.api, store: FileTransferStore(left)) {
          $0.uploads(of: Linked.self, by: .ietf()) { _, _ in notified.withLock { $0 += 1 } }
        }
        let error = try await next.outcome(of: id)
        #expect(error?.status == 404 && notified.withLock(\.self) == 0)
        try await next.resume(id)
        #expect(try await next.outcome(of: id) == nil)
        #expect(notified.withLock(\.self) == 1 && server.exchanges.map(\.method) == ["GET", "POST", "GET", "GET"])
      }
    }
  }

  @Test("The end of an upload is stored before the upload's record is removed", arguments: [false, true])
  func order(_ isGone: Bool) async throws {
    let fault = Fault(at: .requestContent(after: 1000), .reset, on: .request(0))
    try await UploadServer.with(.ietf, faults: isGone ? [fault] : []) { request in
      isGone && request.method == "HEAD" ? .status(404) : nil
    } _: { _, server in
      try await UploadBench.with(server) { bench in
        try bench.write(1_000_000)
        let log = StoreLog()
        let transfers = try await Transfers(bench.api, store: log.store(bench.store)) {
          $0.uploads(of: DraftClip.self, by: .ietf())
        }
        let id = try await transfers.upload(DraftClip(path: bench.path))
        let error = try await transfers.outcome(of: id)
        #expect(isGone ? error?.transfer?.problem == .uploadGone : error == nil)
        let end = try #require(log.changes.firstIndex(of: isGone ? "transfer failed" : "transfer uploaded"))
        let removal = try #require(log.changes.firstIndex(of: "upload removed"))
        #expect(log.changes.firstIndex(of: "upload") ?? .max < end && end < removal)
        await transfers.close()
      }
    }
  }

  @Test("A rejection that the endpoint maps to a value ends the transfer, and leaves no record of its upload")
  func rejectionAsValue() async throws {
    struct Judged: TransferEndpoint {
      let path: String
      func request(by client: Client) async throws -> Request<Outcome<StoredFilm, StoredFilm>> {
        Request<StoredFilm>.post("/files", content: .file(path)).outcome()
      }
    }
    // The interim response makes the client write the record of the upload.
    let interim: FieldLines = ["Location": "/files/upload-0", "Upload-Draft-Interop-Version": "8"]
    try await UploadServer.with(.ietf) { _ in
      .json(#"{"size":7}"#, status: 422).interim(104, fields: interim)
    } _: { _, server in
      try await UploadBench.with(server) { bench in
        try bench.write(1000)
        let sizes = Mutex<[Int]>([])
        let transfers = try await Transfers(bench.api, store: bench.store) {
          $0.uploads(of: Judged.self, by: .ietf()) { _, result in
            if case .rejected(let film) = result.value { sizes.withLock { $0.append(film.size) } }
          }
        }
        let id = try await transfers.upload(Judged(path: bench.path))
        let error = try await transfers.outcome(of: id)
        #expect(error == nil)
        await transfers.close()
        #expect(sizes.withLock { $0 } == [7] && bench.records.isEmpty)
      }
    }
  }

  @Test("A cancelled upload whose process ended is removed by the next process and not sent again")
  func stillCancelled() async throws {
    try await UploadServer.with(.tus) { uploads, server in
      try await UploadBench.with(server) { bench in
        try bench.write(1000)
        let held = Scheduler()
        held.pauseAll()
        func queue() async throws -> Transfers {
          try await Transfers(bench.api, store: bench.store) {
            $0.scheduler = held
            $0.uploads(of: Clip.self, by: .tus())
          }
        }
        let transfers = try await queue()
        let id = try await transfers.upload(Clip(path: bench.path))
        await transfers.close()
        let path = "\(bench.store.path)/transfer-\(id.rawValue).json"
        var record = try #require(bench.bench.bytes(path).flatMap { TransferRecord($0) })
        record.isCancelled = true
        try #require(record.encoded()).write(to: URL(filePath: path))
        let next = try await queue()
        held.resumeAll()
        try await waitWhile(!next.all.isEmpty)
        #expect(server.exchanges.isEmpty && bench.records.isEmpty)
        // A queue that already exists reads this record only when the transfer is added. It then adds the transfer
        // anew.
        try #require(record.encoded()).write(to: URL(filePath: path))
        let again = try await next.upload(Clip(path: bench.path))
        #expect(again == id)
        _ = try await next.outcome(of: id)
        #expect(server.exchanges.map(\.method) == ["POST", "PATCH"] && bench.records.isEmpty)
      }
    }
  }

  @Test("An upload whose file is missing fails, and can be cancelled")
  func fileGone() async throws {
    try await UploadServer.with(.tus) { _, server in
      try await UploadBench.with(server) { bench in
        let transfers = try await Transfers(bench.api, store: bench.store) { $0.uploads(of: Clip.self, by: .tus()) }
        let id = try await transfers.upload(Clip(path: bench.path))
        let error = await failure { try await transfers.completion(of: id) }
        #expect(error != nil && server.exchanges.isEmpty)
        try await transfers.cancel(id)
        #expect(transfers.all.isEmpty && bench.records.isEmpty)
      }
    }
  }
}
