import ApusCore
import ApusMiddleware
import ApusNIO
import ApusTestServer
import ApusWaiting
import Foundation
import HTTPTypes
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("The records of uploads")
struct UploadRecordTests {
  /// Interrupts an upload after about 500,000 of 2,000,000 bytes, so that its record stays.
  private func interrupted(
    _ test: (UploadBench, UploadServer, TestServer, [UInt8]) async throws -> Void
  ) async throws {
    let fault = Fault(at: .requestContent(after: 500_000), .reset, on: .request(1))
    try await UploadServer.with(.tus, faults: [fault]) { uploads, server in
      try await UploadBench.with(server) { bench in
        let bytes = try bench.write(2_000_000)
        var options = bench.options
        options.maximumContinuations = 0
        let error = await failure { try await bench.api.upload(bench.film, by: .tus(), options: options) }
        #expect(error?.code == .connectionLost && error?.transfer?.problem == .interrupted)
        #expect(bench.records.filter { $0.hasSuffix(".json") }.count == 1)
        try await test(bench, uploads, server, bytes)
      }
    }
  }

  @Test("A record contains no secret of the endpoint, and only its owner can access the file")
  func contents() async throws {
    let fault = Fault(at: .requestContent(after: 1000), .reset, on: .request(1))
    try await UploadServer.with(.tus, faults: [fault]) { uploads, server in
      try await UploadBench.with(server) { bench in
        try bench.write(100_000)
        let film = Request<Void>.post("/files?signature=SENTINEL", content: .file(bench.path))
          .field("Authorization", "Bearer SENTINEL")
        var options = UploadOptions(store: bench.store, account: "SENTINEL")
        options.maximumContinuations = 0
        _ = await failure { try await bench.api.upload(film, by: .tus(), options: options) }
        let name = try #require(bench.records.first { $0.hasSuffix(".json") })
        let record = try #require(bench.bench.bytes("\(bench.store.path)/\(name)"))
        let text = String(decoding: record, as: UTF8.self)
        #expect(!text.contains("SENTINEL") && text.contains("/files/upload-0") && !name.contains("SENTINEL"))
      }
    }
  }

  @Test("The same call continues where the upload was interrupted")
  func continues() async throws {
    try await interrupted { bench, uploads, server, bytes in
      let result = try await bench.api.upload(bench.film, by: .tus(), options: bench.options)
      #expect(result.resumedBytes >= 500_000 && result.resumedBytes < 1_500_000)
      #expect(uploads.received == bytes.count && uploads.has(bytes) && bench.records.isEmpty)
    }
  }

  @Test("A different account, protocol or endpoint starts a separate upload")
  func others() async throws {
    try await interrupted { bench, uploads, server, bytes in
      let other = UploadOptions(store: bench.store, account: "other")
      let film = Request<Void>.post("/files?owner=2", content: .file(bench.path))
      let first = try await bench.api.upload(bench.film, by: .tus(), options: other)
      let second = try await bench.api.upload(film, by: .tus(), options: bench.options)
      let third = try await bench.api.upload(bench.film, by: .tus(), options: bench.options)
      #expect((first.resumedBytes, second.resumedBytes) == (0, 0) && third.resumedBytes >= 500_000)
    }
  }

  @Test("An upload with a damaged or expired record starts over")
  func useless() async throws {
    try await interrupted { bench, uploads, server, bytes in
      let name = try #require(bench.records.first { $0.hasSuffix(".json") })
      let path = "\(bench.store.path)/\(name)"
      let record = try #require(bench.bench.bytes(path).flatMap { UploadRecord($0) })
      for isExpired in [true, false] {
        var record = record
        record.ticket.expiration = 1
        try (isExpired ? record.encoded() : Data("{".utf8))?.write(to: URL(filePath: path))
        let result = try await bench.api.upload(bench.film, by: .tus(), options: bench.options)
        #expect(result.resumedBytes == 0 && bench.records.isEmpty)
      }
    }
  }

  @Test("A running upload refuses a second call, and an interrupted upload is removed on request")
  func discard() async throws {
    try await interrupted { bench, uploads, server, bytes in
      let lock = try await bench.store.lock(String(try #require(bench.records.first).prefix { $0 != "." }))
      let error = await failure { try await bench.api.upload(bench.film, by: .tus(), options: bench.options) }
      #expect(error?.code == .refused && error?.transfer?.problem == .inUse)
      let second = await failure { try await bench.api.discardUpload(bench.film, by: .tus(), options: bench.options) }
      #expect(second?.transfer?.problem == .inUse)
      await lock.release()
      try await bench.api.discardUpload(bench.film, by: .tus(), options: bench.options)
      #expect(server.exchanges.last?.method == "DELETE" && bench.records.isEmpty)
      try await bench.api.discardUpload(bench.film, by: .tus(), options: bench.options)
      #expect(server.exchanges.filter { $0.method == "DELETE" }.count == 1)
    }
  }

  @Test("Credentials and the endpoint's fields are not sent to an upload at another origin")
  func otherOrigin() async throws {
    try await UploadServer.with(.tus) { uploads, storage in
      try await TestServer.with { request in
        .status(201, fields: ["Location": "\(storage.origin)/files/upload-0"])
      } body: { server in
        try await UploadBench.with(server) { bench in
          // Creates the upload on the other server, too.
          _ = try await bench.api.send(Request<Void>.post(.url("\(storage.origin)/files")).field("Upload-Length", "9"))
          try bench.write(100_000)
          let film = bench.film.field("X-Tenant", "7").field("Authorization", "Bearer secret", isSensitive: true)
          _ = try await bench.api.upload(film, by: .tus())
          #expect(server.exchanges.first?.request.fields["X-Tenant"] == "7")
          let part = try #require(storage.exchanges.last?.request)
          #expect(part.method == "PATCH" && part.contentLength == 100_000)
          #expect(part.fields["X-Tenant"] == nil && part.fields["Authorization"] == nil)
        }
      }
    }
  }
}
