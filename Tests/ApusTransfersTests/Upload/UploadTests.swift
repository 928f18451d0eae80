import ApusCore
import ApusTestServer
import ApusWaiting
import Crypto
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusTransfers

@Suite("Resumable uploads")
struct UploadTests {
  private typealias Dialect = UploadServer.Dialect

  @Test(
    "A file is uploaded completely, with progress that ends at its length", arguments: UploadServer.Dialect.allCases)
  func complete(_ dialect: UploadServer.Dialect) async throws {
    try await UploadServer.with(dialect) { uploads, server in
      try await UploadBench.with(server) { bench in
        let bytes = try bench.write(3_000_000)
        let progress = ProgressReporter()
        let result = try await bench.api.upload(
          bench.film.uploadProgress(progress), by: dialect.uploadProtocol, options: bench.options)
        #expect((result.size, result.resumedBytes) == (3_000_000, 0))
        let creation = try #require(server.exchanges.first)
        #expect(uploads.has(bytes, in: UploadServer.target(of: creation.request)))
        #expect(uploads.received == bytes.count)
        #expect(progress.current.completed == 3_000_000 && progress.current.fraction == 1)
        #expect(bench.records.isEmpty)
        if dialect == .tus { #expect(result.url == server.origin + UploadServer.target(of: creation.request)) }
      }
    }
  }

  @Test("tus: the creation states length, file name and media type, and each part states its offset")
  func tusFields() async throws {
    try await UploadServer.with(.tus) { _, server in
      try await UploadBench.with(server) { bench in
        try bench.write(1000)
        let tagged = bench.film.field("X-Tenant", "7").field("Content-Language", "ja")
        _ = try await bench.api.upload(tagged, by: .tus())
        let (creation, part) = (server.exchanges[0].request, server.exchanges[1].request)
        #expect((creation.method, part.method) == ("POST", "PATCH"))
        #expect(creation.fields["Tus-Resumable"] == "1.0.0" && part.fields["Tus-Resumable"] == "1.0.0")
        #expect(creation.fields["Upload-Length"] == "1000" && creation.fields["Content-Length"] == "0")
        #expect(creation.fields["Upload-Metadata"] == "filename ZmlsbS5tcDQ=,filetype dmlkZW8vbXA0")
        #expect(part.fields["Upload-Offset"] == "0" && part.fields["Content-Length"] == "1000")
        #expect(part.fields["Content-Type"] == "application/offset+octet-stream")
        #expect(part.fields["X-Tenant"] == "7" && part.fields["Content-Language"] == nil)
      }
    }
  }

  @Test("tus: custom metadata are sent; an invalid metadata key fails the upload before a request is sent")
  func tusMetadata() async throws {
    try await UploadServer.with(.tus) { _, server in
      try await UploadBench.with(server) { bench in
        try bench.write(10)
        _ = try await bench.api.upload(bench.film, by: .tus(metadata: ["name": "Rän", "flag": ""]))
        #expect(server.exchanges[0].request.fields["Upload-Metadata"] == "flag,name UsOkbg==")
        let error = await failure { try await bench.api.upload(bench.film, by: .tus(metadata: ["a,b": "1"])) }
        #expect(error?.code == .invalidRequest && error?.transfer?.problem == .invalidMetadata)
        #expect(server.exchanges.count == 2)
      }
    }
  }

  @Test("tus: content of zero bytes is complete when it is created")
  func tusEmpty() async throws {
    try await UploadServer.with(.tus) { _, server in
      try await UploadBench.with(server) { bench in
        try bench.write(0)
        let result = try await bench.api.upload(bench.film, by: .tus())
        #expect(result.size == 0 && server.exchanges.map(\.method) == ["POST"])
      }
    }
  }

  @Test("tus: with checksums the content is sent in parts, and a part that arrives damaged is resent")
  func tusChecksum() async throws {
    let damaged = Counter()
    try await UploadServer.with(.tus) { request in
      request.method == "PATCH" && request.fields["Upload-Offset"] == "8388608" && damaged.next() == 1
        ? .status(460) : nil
    } _: { uploads, server in
      try await UploadBench.with(server) { bench in
        let bytes = try bench.write(10_000_000)
        _ = try await bench.api.upload(bench.film, by: .tus(checksum: .sha256))
        let parts = server.exchanges.filter { $0.method == "PATCH" }
        #expect(parts.map { $0.request.fields["Upload-Offset"] } == ["0", "8388608", "8388608"])
        let digest = Data(SHA256.hash(data: bytes.prefix(8 << 20))).base64EncodedString()
        #expect(parts[0].request.fields["Upload-Checksum"] == "sha256 \(digest)")
        #expect(uploads.has(bytes))
      }
    }
  }

  @Test(
    "IETF draft: the endpoint's value comes from the last response, also after an interruption",
    arguments: [false, true])
  func ietfValue(_ isInterrupted: Bool) async throws {
    let fault = Fault(at: .requestContent(after: 1_000_000), .reset, on: .request(0))
    try await UploadServer.with(.ietf, faults: isInterrupted ? [fault] : []) { uploads, server in
      try await UploadBench.with(server) { bench in
        let bytes = try bench.write(3_000_000)
        let film = Request<StoredFilm>.post("/films", content: .file(bench.path))
        let result = try await bench.api.upload(film, by: .ietf())
        #expect(result.value == StoredFilm(size: 3_000_000))
        #expect(uploads.has(bytes))
        let methods = server.exchanges.map(\.method)
        #expect(methods == (isInterrupted ? ["POST", "HEAD", "PATCH"] : ["POST"]))
        #expect(server.exchanges.allSatisfy { $0.request.fields["Upload-Draft-Interop-Version"] == "8" })
        let first = server.exchanges[0].request
        #expect(first.fields["Upload-Complete"] == "?1" && first.fields["Upload-Length"] == "3000000")
        #expect(first.fields["Content-Type"] == "video/mp4" && first.fields["Accept"] == "application/json")
        if let last = server.exchanges.last, isInterrupted {
          #expect(last.request.fields["Content-Type"] == "application/partial-upload")
          #expect(last.request.fields["Upload-Complete"] == "?1" && last.request.fields["Accept"] == "application/json")
        }
      }
    }
  }

  @Test("IETF draft: an upload may be created without content")
  func ietfWithoutContent() async throws {
    try await UploadServer.with(.ietf) { uploads, server in
      try await UploadBench.with(server) { bench in
        let bytes = try bench.write(3_000_000)
        let film = Request<StoredFilm>.post("/films", content: .file(bench.path))
        let result = try await bench.api.upload(film, by: .ietf(createsFirst: true))
        #expect(result.value == StoredFilm(size: 3_000_000) && uploads.has(bytes))
        #expect(server.exchanges.map(\.method) == ["POST", "PATCH"])
        let first = server.exchanges[0].request
        #expect(first.fields["Upload-Complete"] == "?0" && first.fields["Content-Type"] == "video/mp4")
        #expect(first.fields["Content-Length"] == "0")
      }
    }
  }

  @Test("IETF draft: a server that does not support the draft receives an ordinary request")
  func ietfUnknown() async throws {
    try await TestServer.with { request in
      .json(#"{"size":\#(request.contentLength)}"#)
    } body: { server in
      try await UploadBench.with(server) { bench in
        try bench.write(1000)
        let film = Request<StoredFilm>.post("/films", content: .file(bench.path))
        #expect(try await bench.api.upload(film, by: .ietf()).value.size == 1000)
      }
    }
  }

  @Test("An interrupted upload continues by itself at the server's offset", arguments: UploadServer.Dialect.allCases)
  func interrupted(_ dialect: UploadServer.Dialect) async throws {
    let first = dialect == .tus ? 1 : 0
    let faults = [
      Fault(at: .requestContent(after: 500_000), .reset, on: .request(first)),
      Fault(at: .requestContent(after: 700_000), .close, on: .request(first + 2)),
    ]
    try await UploadServer.with(dialect, faults: faults) { uploads, server in
      try await UploadBench.with(server) { bench in
        let bytes = try bench.write(5_000_000)
        let film = Request<Content>.post("/files", content: .file(bench.path))
        let result = try await bench.api.upload(film, by: dialect.uploadProtocol)
        #expect(result.size == 5_000_000 && result.resumedBytes == 0)
        #expect(uploads.has(bytes))
        #expect(uploads.received == bytes.count)
      }
    }
  }

  @Test(
    "Cancelling pauses an upload, and the same call continues it with the missing bytes",
    arguments: UploadServer.Dialect.allCases)
  func cancelled(_ dialect: UploadServer.Dialect) async throws {
    let fault = Fault(
      at: .requestContent(after: 1_000_000), .stall(until: Gate()), on: .request(dialect == .tus ? 1 : 0))
    try await UploadServer.with(dialect, faults: [fault]) { uploads, server in
      try await UploadBench.with(server) { bench in
        let bytes = try bench.write(30_000_000)
        let (film, options) = (Request<Content>.post("/files", content: .file(bench.path)), bench.options)
        let task = Task {
          await failure { try await bench.api.upload(film, by: dialect.uploadProtocol, options: options) }
        }
        _ = try await server.exchange { $0.contentLength >= 1_000_000 }
        try await waitWhile(bench.records.count < 2)
        task.cancel()
        let error = await task.value
        #expect(error?.code == .cancelled && error?.transfer?.problem == .interrupted)
        #expect(bench.records.count == 2)
        #expect(DownloadBench.mode(of: bench.store.path) == 0o700)
        for record in bench.records { #expect(DownloadBench.mode(of: "\(bench.store.path)/\(record)") == 0o600) }
        let stored = uploads.offset(of: "/files/upload-0")
        let result = try await bench.api.upload(film, by: dialect.uploadProtocol, options: options)
        #expect(result.resumedBytes == Int64(stored) && stored >= 1_000_000 && bench.records.isEmpty)
        #expect(uploads.has(bytes))
      }
    }
  }

  @Test("Uploads of bytes in memory and of replayable streams continue after an interruption")
  func otherContent() async throws {
    let fault = Fault(
      at: .requestContent(after: 100_000), .reset, on: .matching { $0.request?.fields["Upload-Offset"] == "0" })
    try await UploadServer.with(.tus, faults: [fault]) { uploads, server in
      try await UploadBench.with(server) { bench in
        let data = FileOnServer(length: 700_000).bytes
        let pieces = stride(from: 0, to: data.count, by: 99_999).map { data[$0..<min($0 + 99_999, data.count)] }
        let stream = ContentStream(length: 700_000, isReplayable: true) {
          let next = Counter()
          return {
            let index = next.next() - 1
            return index < pieces.count ? pieces[index] : nil
          }
        }
        for content in [RequestContent.bytes(data), .stream(stream)] {
          _ = try await bench.api.upload(
            Request<Void>.post("/files", content: content), by: .tus(), options: bench.options)
          let creation = try #require(server.exchanges.last { $0.method == "POST" })
          #expect(uploads.has([UInt8](data), in: UploadServer.target(of: creation.request)))
        }
        #expect(server.exchanges.filter { $0.method == "HEAD" }.count == 2)
      }
    }
  }

  @Test("Content that cannot be resumed is refused before a request is sent")
  func unusable() async throws {
    try await UploadServer.with(.tus) { _, server in
      try await UploadBench.with(server) { bench in
        let once = ContentStream(length: 3, isReplayable: false) { { nil } }
        let endless = ContentStream(isReplayable: true) { { nil } }
        let reasons: [TransferError.Problem] = [.notReplayable, .unknownLength]
        for (stream, reason) in zip([once, endless], reasons) {
          let request = Request<Void>.post("/files", content: .stream(stream))
          let error = await failure { try await bench.api.upload(request, by: .tus()) }
          #expect(error?.code == .invalidRequest && error?.transfer?.problem == reason)
        }
        let missing = await failure {
          try await bench.api.upload(Request<Void>.post("/files", content: .file("/none")), by: .tus())
        }
        #expect(missing?.code == .encoding && server.exchanges.isEmpty)
      }
    }
  }
}

/// A counter that starts at 1.
private final class Counter: Sendable {
  private let count = Mutex(0)
  func next() -> Int {
    count.withLock {
      $0 += 1
      return $0
    }
  }
}
