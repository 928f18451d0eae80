#if os(Linux)
import Apus
import ApusTesting
import ApusTransfers
import Crypto
import Foundation
import HTTPTypes
import Synchronization
import TestSupport
import Testing

@testable import ApusAWS

/// Multipart uploads and downloads in ranges, on two independent servers.
@Suite("S3 servers: transfers", .needs(.seaweedfs), .needs(.swift), .serialized)
struct S3TransferTests {
  /// Runs a test with a file of random-looking bytes, which is removed afterwards.
  private func withFile(
    _ size: Int, _ test: (_ path: String, _ hash: SHA256Digest, _ folder: String) async throws -> Void
  ) async throws {
    let folder = FileManager.default.temporaryDirectory.path + "/apus-s3-\(UUID())"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    // The period is a prime number, so that no two parts are equal.
    let period = Data((0..<1_048_573).map { UInt8(truncatingIfNeeded: $0 &* 167 >> 3) })
    var content = Data(capacity: size)
    while content.count < size { content += period.prefix(size - content.count) }
    try content.write(to: URL(filePath: "\(folder)/film.mp4"))
    try await test("\(folder)/film.mp4", SHA256.hash(data: content), folder)
  }

  @Test(
    "100 MB with a part that fails twice arrive unchanged, and are downloaded in ranges", arguments: S3Server.strict)
  func failingPart(server: S3Server) async throws {
    let failures = FailureCount()
    let unreliable: S3Server.Wrap = { transport in
      MeddlingTransport(transport) { request in
        guard request.target.contains("partNumber=3&"), failures.next() <= 2 else { return }
        throw TransportError(.connectionLost, requestState: .maybeSent)
      }
    }
    try await withFile(100_000_000) { path, hash, folder in
      try await server.withBucket(over: unreliable) { bucket in
        let progress = ProgressReporter()
        var watched = bucket
        watched.options.uploadProgress = progress
        let counts = Task { await Self.counts(of: progress) }
        let result = try await watched.upload(path, to: "films/film ü.mp4")
        #expect(result.size == 100_000_000 && result.value.entityTag?.hasSuffix("-12\"") == true)
        #expect(failures.count == 3)
        let reported = await counts.value
        #expect(reported == reported.sorted() && reported.last == 100_000_000)

        var options = DownloadOptions()
        options.maximumParallelRanges = 4
        let copy = "\(folder)/copy.mp4"
        #expect(try await bucket.download("films/film ü.mp4", to: copy, options: options).size == 100_000_000)
        #expect(try Self.hash(of: copy) == hash)
      }
    }
  }

  @Test("Over https the checksums of parts are sent instead of signed hashes, and verified by the server")
  func unsignedParts() async throws {
    let payloads = Mutex<Set<String>>([])
    let watching: S3Server.Wrap = { transport in
      MeddlingTransport(transport) { request in
        guard request.target.contains("partNumber=") else { return }
        let fields = request.head.headerFields
        let field = { (name: String) in HTTPField.Name(name).flatMap { fields[$0] } ?? "none" }
        let length = Data(base64Encoded: field("x-amz-checksum-crc64nvme"))?.count ?? 0
        payloads.withLock { _ = $0.insert("\(field("x-amz-content-sha256")) \(length)") }
      }
    }
    try await withFile(20_000_000) { path, hash, folder in
      try await S3Server.secureSeaweedFS.withBucket(over: watching) { bucket in
        try await bucket.upload(path, to: "film.mp4")
        #expect(payloads.withLock { $0 } == ["UNSIGNED-PAYLOAD 8"])
        _ = try await bucket.download("film.mp4", to: "\(folder)/copy.mp4")
        #expect(try Self.hash(of: "\(folder)/copy.mp4") == hash)
      }
      let changing: S3Server.Wrap = { MeddlingTransport($0) { $0.content = .bytes(Data("another".utf8)) } }
      try await S3Server.secureSeaweedFS.withBucket(over: changing) { bucket in
        let error = await failure { try await bucket.put("a", .text("content")) }
        #expect(error?.status == 400, "\(String(describing: error?.s3))")
      }
    }
  }

  @Test(
    "An upload that fails permanently leaves no parts on the server, unless another process may continue",
    arguments: S3Server.strict)
  func aborted(server: S3Server) async throws {
    let failing: S3Server.Wrap = { transport in
      MeddlingTransport(transport) { request in
        guard request.target.contains("partNumber=3&") else { return }
        throw TransportError(.tls, requestState: .notSent)
      }
    }
    try await withFile(20_000_000) { path, hash, folder in
      try await server.withBucket(over: failing) { bucket in
        try await expectUploads(0, in: bucket, after: try await interrupted(path, bucket, S3UploadOptions()))
        let keeping = Self.oneByOne(FileTransferStore("\(folder)/store"))
        let error = try await interrupted(path, bucket, keeping)
        #expect(error.transfer?.keptBytes ?? 0 > 0)
        try await expectUploads(1, in: bucket, after: error)
        try await expectUploads(0, in: bucket, after: try await interrupted(path, bucket, Self.aborting(keeping)))
      }
    }
  }

  /// Returns the error of an upload that fails.
  private func interrupted(_ path: String, _ bucket: S3Bucket, _ options: S3UploadOptions) async throws -> CallError {
    let error = await failure { try await bucket.upload(path, to: "a", options: options) }
    return try #require(error)
  }

  /// Returns options with which earlier parts are complete when a later part fails.
  private static func oneByOne(_ store: FileTransferStore) -> S3UploadOptions {
    var options = S3UploadOptions(store: store)
    options.maximumParallelParts = 1
    return options
  }

  private static func aborting(_ options: S3UploadOptions) -> S3UploadOptions {
    var options = options
    options.abortsOnFailure = true
    return options
  }

  /// Checks the number of incomplete uploads of a bucket.
  private func expectUploads(_ count: Int, in bucket: S3Bucket, after error: CallError? = nil) async throws {
    if let error { #expect(error.code == .tls) }
    let request = bucket.request(
      .get, bucket.route(nil, [.init("uploads")]), mapping: .document("ListMultipartUploadsResult"))
    let uploads = try await bucket.client.send(request).all("Upload")
    #expect(uploads.count == count)
  }

  @Test(
    "An upload whose process is killed ten times is continued, and 100 MB arrive unchanged",
    arguments: S3Server.strict)
  func killed(server: S3Server) async throws {
    let url = try await server.started().url()
    try await withFile(100_000_000) { path, hash, folder in
      try await server.withBucket { bucket in
        let (place, store) = ("\(url) \(bucket.name) film.mp4", "\(folder)/store")
        for round in 1...10 {
          let limit = Int64(round) * 8_000_000
          let process = try WorkerProcess(.transfers, "s3", place, path, store, "\(limit)")
          let line = await process.line { _ in false }
          try #require(Self.count(line).map { $0 >= limit } ?? false, "\(line)")
        }
        let last = try WorkerProcess(.transfers, "s3", place, path, store)
        let resumed = await last.line { $0.hasPrefix("resumed ") || $0.hasPrefix("error") }
        #expect(Int64(resumed.dropFirst(8)) ?? 0 > 0, "\(resumed)")
        #expect(await last.line { $0.hasPrefix("done") } == "done 100000000")
        let copy = "\(folder)/copy.mp4"
        _ = try await bucket.download("film.mp4", to: copy)
        #expect(try Self.hash(of: copy) == hash)
        try await expectUploads(0, in: bucket)
      }
    }
  }

  private static func counts(of progress: ProgressReporter) async -> [Int64] {
    var counts: [Int64] = []
    for await step in progress { counts.append(step.completed) }
    return counts
  }

  private static func hash(of path: String) throws -> SHA256Digest {
    SHA256.hash(data: try Data(contentsOf: URL(filePath: path)))
  }

  private static func count(_ line: String) -> Int64? { line.hasPrefix("bytes ") ? Int64(line.dropFirst(6)) : nil }
}
#endif
