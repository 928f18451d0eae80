import ApusAWS
import ApusCore
import ApusMiddleware
import ApusNIO
import ApusTransfers
import Foundation

/// A transfer that a test kills before a change of the file system.
struct KilledTransfer: Sendable {
  /// `download`, `plain`, `tus`, `ietf` or `careful` for a transfer of a queue; `download-call`, `ranges-call`,
  /// `tus-call` or `s3-call` for a call.
  let variant: String
  /// For S3 the URL of the server, the bucket and the key, separated by spaces.
  let url: String
  let path: String
  let folder: String

  fileprivate var store: FileTransferStore { FileTransferStore(folder) }

  fileprivate var uploadProtocol: UploadProtocol {
    switch variant {
    case "tus": .tus()
    case "careful": .ietf(createsFirst: true)
    default: .ietf()
    }
  }

  /// Whether at least half of the bytes are transferred.
  fileprivate static func isHalf(_ progress: TransferProgress) -> Bool { (progress.fraction ?? 0) >= 0.5 }
}

private struct KilledFilm: Endpoint, TransferEndpoint {
  let url: String
  var request: Request<Content> { .get(.url(url)) }

  var downloadOptions: DownloadOptions {
    var options = DownloadOptions()
    options.checkpointInterval = 200_000
    return options
  }
}

private struct KilledClip: Endpoint, TransferEndpoint {
  let url: String
  let path: String
  var request: Request<Void> { .post(.url(url), content: .file(path)) }
}

extension TransfersWorker {
  /// Performs steps one after the other, and prints the name of each completed step:
  ///
  /// - `add`, `pause`, `resume` and `cancel`: the commands of a queue; `cancel` of a call removes the kept bytes.
  /// - `halfway`: transfers until half of the bytes are transferred; a call is then cancelled.
  /// - `run`: transfers until the transfer is complete.
  /// - `close`: closes the queue.
  ///
  /// A queued transfer is paused until the first `halfway` or `run`. When it is complete, the process prints `reported`
  /// with the number of bytes.
  static func perform(_ steps: String, _ transfer: KilledTransfer) async {
    let steps = steps.split(separator: " ").map(String.init)
    do {
      if transfer.variant.hasSuffix("-call") {
        for step in steps { try await performCall(step, transfer) }
      } else {
        try await performInQueue(steps, transfer)
      }
    } catch {
      printLine("error \(error)")
    }
  }

  // MARK: Queues

  private static func performInQueue(_ steps: [String], _ transfer: KilledTransfer) async throws {
    let scheduler = Scheduler()
    scheduler.pauseAll()
    let transfers = try await Transfers(api, store: transfer.store, account: "ada") {
      $0.scheduler = scheduler
      $0.downloads(of: KilledFilm.self) { _, file in printLine("reported \(file.size)") }
      $0.uploads(of: KilledClip.self, by: transfer.uploadProtocol) { _, result in
        printLine("reported \(result.size)")
      }
    }
    let names = (try? FileManager.default.contentsOfDirectory(atPath: transfer.folder)) ?? []
    printLine("listed \(names.sorted().joined(separator: " "))")
    for step in steps {
      switch step {
      case "add" where transfer.variant == "download":
        try await transfers.download(KilledFilm(url: transfer.url), to: transfer.path)
      case "add": try await transfers.upload(KilledClip(url: transfer.url, path: transfer.path))
      case "halfway", "run":
        scheduler.resumeAll()
        try await wait(for: transfers) { step == "halfway" && KilledTransfer.isHalf($0.progress) }
      case "pause": try await command(transfers, transfers.pause)
      case "resume": try await command(transfers, transfers.resume)
      case "cancel": try await command(transfers, transfers.cancel)
      default: await transfers.close()
      }
      printLine(step)
    }
  }

  /// Waits until no transfer is left, or until a transfer satisfies a condition.
  private static func wait(for transfers: Transfers, until condition: (Transfer) -> Bool) async throws {
    for await list in transfers.updates {
      guard let transfer = list.first else { return }
      if case .failed(let error) = transfer.state { throw error }
      if condition(transfer) { return }
    }
  }

  private static func command(
    _ transfers: Transfers, _ command: (Transfer.ID) async throws(CallError) -> Void
  ) async throws(CallError) {
    for transfer in transfers.all {
      do throws(CallError) {
        try await command(transfer.id)
      } catch {
        // An unknown transfer has completed meanwhile.
        if error.transfer?.problem != .unknownTransfer { throw error }
      }
    }
  }

  // MARK: Calls

  private static func performCall(_ step: String, _ transfer: KilledTransfer) async throws {
    let progress = ProgressReporter()
    switch step {
    case "run": printLine("reported \(try await send(transfer, progress))")
    case "halfway":
      let call = Task { try await send(transfer, progress) }
      progress.observe { if KilledTransfer.isHalf($0) { call.cancel() } }
      _ = try? await call.value
    default:
      switch transfer.variant {
      case "download-call", "ranges-call": try await api.discardDownload(to: transfer.path)
      case "tus-call": try await api.discardUpload(film(of: transfer), by: .tus(), options: options(of: transfer))
      default:
        let (bucket, key, options) = try object(of: transfer, progress)
        try await bucket.discardUpload(of: transfer.path, to: key, options: options)
      }
    }
    printLine(step)
  }

  /// Performs the call. Returns the number of transferred bytes.
  private static func send(_ transfer: KilledTransfer, _ progress: ProgressReporter) async throws -> Int64 {
    switch transfer.variant {
    case "download-call", "ranges-call":
      var options = DownloadOptions()
      options.checkpointInterval = 200_000
      if transfer.variant == "ranges-call" { options.maximumParallelRanges = 3 }
      do throws(CallError) {
        let film = Request<Content>.get(.url(transfer.url)).downloadProgress(progress)
        return try await api.download(film, to: transfer.path, options: options).size
      } catch {
        // A file has its final name only when it is complete.
        guard error.transfer?.problem == .fileExists else { throw error }
        return Int64(FileManager.default.contents(atPath: transfer.path)?.count ?? 0)
      }
    case "tus-call":
      let film = film(of: transfer).uploadProgress(progress)
      return try await api.upload(film, by: .tus(), options: options(of: transfer)).size
    default:
      let (bucket, key, options) = try object(of: transfer, progress)
      return try await bucket.upload(transfer.path, to: key, options: options).size
    }
  }

  private static func film(of transfer: KilledTransfer) -> Request<Void> {
    .post(.url(transfer.url), content: .file(transfer.path))
  }

  private static func options(of transfer: KilledTransfer) -> UploadOptions { UploadOptions(store: transfer.store) }

  /// Returns the object to which a file is uploaded in parts.
  private static func object(
    of transfer: KilledTransfer, _ progress: ProgressReporter
  ) throws -> (S3Bucket, key: String, S3UploadOptions) {
    let words = transfer.url.split(separator: " ").map(String.init)
    let credentials = AWSCredentials(accessKeyID: "test:tester", secretAccessKey: "testing")
    let client = Client(environment: Environment(baseURL: try BaseURL(words[0])), transport: NIOTransport())
    var bucket = S3(client, region: "us-east-1", credentials: credentials).bucket(words[1])
    bucket.options.uploadProgress = progress
    var options = S3UploadOptions(store: transfer.store)
    options.partSize = 5 << 20
    return (bucket, words[2], options)
  }
}
