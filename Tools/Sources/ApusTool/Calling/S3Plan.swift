import Apus
import ApusAWS
import ApusTransfers

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A server with the S3 API, and the credentials for it.
struct S3Plan: Sendable {
  /// The URL of the server. Buckets are below its path.
  var url: TargetURL
  var region: String
  /// The origin of the credentials; `nil`: requests are not signed.
  var credentials: AWSCredentialsPlan?

  /// Returns a bucket.
  ///
  /// - Throws: ``PlanError``, ``InputError``, `BaseURL.ParseError`
  func bucket(_ name: String, _ connection: ConnectionPlan, _ observers: [any CallObserver]) async throws -> S3Bucket {
    let transport = try await connection.transport(to: url.origin)
    let clients = Clients(transport: transport, plan: connection, observers: observers)
    let client = try clients.client(for: url, isBase: true)
    var bucket = S3(client, region: region, credentials: credentials?.provider(transport)).bucket(name)
    bucket.options.timeout = connection.timeout
    return bucket
  }
}

/// The execution of a command on an S3 location.
struct S3Work: Sendable {
  let place: S3Place
  let plan: S3Plan
  let connection: ConnectionPlan
  let outputs: Outputs
  var showsTrace = false

  private func withBucket(_ work: (S3Bucket) async throws -> Void) async -> ExitStatus {
    await outputs.run {
      do {
        try await work(plan.bucket(place.bucket, connection, outputs.observers(showsTraces: showsTrace)))
      } catch let error as CallError {
        throw Ending(s3: error, Ending(error))
      }
    }
  }

  /// Uploads a file in parts, and continues an interrupted upload.
  func upload(_ file: String, _ mediaType: MediaType?, restarts: Bool, in environment: [String: String]) async
    -> ExitStatus
  {
    await withBucket { bucket in
      let place = place.completed(by: file)
      var options = S3UploadOptions(store: try await UserFolder.transferStore(in: environment))
      options.account = plan.credentials?.account(in: environment)
      options.mediaType = mediaType
      do throws(CallError) {
        if restarts { try await bucket.discardUpload(of: file, to: place.key, options: options) }
      } catch {
        throw Ending(s3: error, Ending(upload: error))
      }
      let drawing = ProgressDrawing(direction: .sent, terminal: outputs.terminal, error: outputs.error)
      let result = await drawn(by: drawing, of: bucket) { bucket throws(CallError) in
        try await bucket.upload(file, to: place.key, options: options)
      }
      _ = try result.mapError { Ending(s3: $0, Ending(upload: $0)) }.get()
    }
  }

  /// Downloads an object to a file.
  func download(to path: String, _ options: DownloadOptions) async -> ExitStatus {
    await withBucket { bucket in
      let drawing = ProgressDrawing(direction: .received, terminal: outputs.terminal, error: outputs.error)
      let result = await drawn(by: drawing, of: bucket) { bucket throws(CallError) in
        try await bucket.download(place.key, to: path, options: options)
      }
      _ = try result.mapError { Ending(s3: $0, Ending(download: $0)) }.get()
    }
  }

  /// Prints the objects whose keys begin with the location's key: time, size and key.
  func list(isRecursive: Bool) async -> ExitStatus {
    await withBucket { bucket in
      for try await page in bucket.list(prefix: place.key, delimiter: isRecursive ? nil : "/") {
        var lines = page.prefixes.map { "- - \($0)" }
        for object in page.objects {
          let time = object.lastModified.map { $0.formatted(.iso8601) } ?? "-"
          lines.append("\(time) \(object.size ?? 0) \(object.key)")
        }
        guard !lines.isEmpty else { continue }
        let text = lines.map { TerminalText.harmless($0, keepsLines: false) + "\n" }.joined()
        try await outputs.output.write(Data(text.utf8))
      }
    }
  }

  /// Performs a transfer and draws its progress. The transfer ends the progress, whether it succeeds or fails, unless
  /// no request was sent.
  private func drawn<Value: Sendable>(
    by drawing: ProgressDrawing, of bucket: S3Bucket, _ transfer: (S3Bucket) async throws(CallError) -> Value
  ) async -> Result<Value, CallError> {
    let progress = ProgressReporter()
    var bucket = bucket
    switch drawing.direction {
    case .sent: bucket.options.uploadProgress = progress
    case .received: bucket.options.downloadProgress = progress
    }
    let drawn = Task { await drawing.follow(progress) }
    let result: Result<Value, CallError>
    do throws(CallError) {
      result = .success(try await transfer(bucket))
      await drawn.value
    } catch {
      result = .failure(error)
      drawn.cancel()
      await drawn.value
    }
    return result
  }
}

extension Ending {
  /// Creates the ending for an error, with the server's reason.
  fileprivate init(s3 error: CallError, _ ending: Ending) {
    self = ending
    guard error.code == .rejected, let reason = error.s3 else { return }
    complaint?.detail = [reason.code, reason.message].compactMap(\.self).joined(separator: ": ")
  }
}
