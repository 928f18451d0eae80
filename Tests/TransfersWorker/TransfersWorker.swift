import ApusCore
import ApusMiddleware
import ApusNIO
import ApusTransfers
import Foundation
import Synchronization

/// A process that downloads or uploads a file for a test, which may kill the process at any time.
///
///     TransfersWorker download URL FILE [RANGES [INTERVAL]]
///                                                    downloads the file, several ranges at once, flushes it after each
///                                                    INTERVAL of bytes, and prints the number of bytes on disk
///     TransfersWorker verified URL FILE              downloads the file, and stops before it is renamed
///     TransfersWorker unreadable URL FILE KIND       sends the file as ordinary user. KIND is `plain`, `tus` or `ietf`
///     TransfersWorker limited URL FILE SIZE          downloads; the system permits no file with more bytes than SIZE
///     TransfersWorker filling URL FILE RANGES OTHER  downloads; fills the disk with the file OTHER when 2 MB have
///                                                    arrived, removes OTHER when the download fails, and downloads
///                                                    again
///     TransfersWorker tus URL FILE FOLDER            uploads the file by tus, with its record in the folder
///     TransfersWorker ietf URL FILE FOLDER           uploads the file by the IETF draft, with its record in the folder
///     TransfersWorker s3 "URL BUCKET KEY" FILE FOLDER [LIMIT]
///                                                    uploads the file in parts to an S3 server with the account
///                                                    `test:tester`, with its record in the folder, and kills itself
///                                                    when LIMIT bytes were sent
///     TransfersWorker queue KIND URL FILE FOLDER     transfers the file by a queue with a store in the folder. KIND is
///                                                    `download` or `upload`. A file FILE.add is the request to add the
///                                                    transfer; without it, only a stored transfer continues. When the
///                                                    transfer is complete, the process adds a line to FILE.log. With
///                                                    the kind `dying` it downloads, and kills itself as soon as the
///                                                    file has its final name
///     TransfersWorker steps STEPS KIND URL FILE FOLDER
///                                                    performs steps on the transfer of a file, see `perform`
///     TransfersWorker fullstore URL FILE FOLDER OTHER
///                                                    queues downloads while the disk with the store in the folder is
///                                                    full, and again when the disk has space
///     TransfersWorker memory KIND URL FILE           transfers the file, and prints by how much memory the process has
///                                                    grown. KIND is `download`, `upload`, or `multipart` for a part of
///                                                    multipart content
/// Each printed line is a word and a value: `bytes 1048576` for progress, then `resumed 0` and `done 5000000`, `grown
/// 12345` in KiB, or `error` with a description and `files` with the names in the folder.
@main
struct TransfersWorker {
  static func main() async {
    let arguments = CommandLine.arguments
    guard arguments.count > 3 else { return printLine("error which URL, and which file?") }
    let extra = arguments.count > 4 ? arguments[4] : ""
    switch arguments[1] {
    case "limited":
      if let size = UInt64(extra) { limitFiles(to: size) }
      await download(arguments[2], to: arguments[3])
    case "filling" where arguments.count > 5:
      await download(arguments[2], to: arguments[3], options(ranges: extra)) { fill(arguments[5]) }
      try? FileManager.default.removeItem(atPath: arguments[5])
      await download(arguments[2], to: arguments[3], options(ranges: extra))
    case "download" where arguments.count > 5:
      await download(arguments[2], to: arguments[3], options(ranges: extra, interval: arguments[5]))
    case "verified": await verify(arguments[2], arguments[3])
    case "unreadable": await sendUnreadable(arguments[3], to: arguments[2], extra)
    case "fullstore" where arguments.count > 5: await fillStore(arguments[2], arguments[3], extra, arguments[5])
    case "memory" where arguments.count > 4: await measure(arguments[2], arguments[3], extra)
    case "queue" where arguments.count > 5:
      await queue(arguments[2], arguments[3], arguments[4], arguments[5])
    case "tus": await upload(arguments[3], to: arguments[2], .tus(), extra)
    case "ietf": await upload(arguments[3], to: arguments[2], .ietf(), extra)
    case "steps" where arguments.count > 6:
      await perform(
        arguments[2],
        KilledTransfer(variant: arguments[3], url: arguments[4], path: arguments[5], folder: arguments[6]))
    case "s3":
      let limit = arguments.count > 5 ? Int64(arguments[5]) : nil
      await uploadParts(arguments[3], to: arguments[2], extra, killedAt: limit ?? .max)
    default:
      await download(arguments[2], to: arguments[3], options(ranges: extra))
    }
  }

  static let api = Client(environment: Environment(baseURL: "http://127.0.0.1"), transport: NIOTransport())

  private static func options(ranges: String, interval: String = "") -> DownloadOptions {
    var options = DownloadOptions()
    options.maximumParallelRanges = Int(ranges) ?? 1
    options.checkpointInterval = Int64(interval) ?? options.checkpointInterval
    return options
  }

  /// - Parameter midway: called once, when 2 MB have arrived.
  private static func download(
    _ url: String, to path: String, _ options: DownloadOptions = DownloadOptions(),
    midway: @escaping @Sendable () -> Void = {}
  ) async {
    let isFirst = Mutex(true)
    do {
      let file = try await api.download(Request<Content>.get(.url(url)), to: path, options) { completed, _ in
        printLine("bytes \(completed)")
        let isNow =
          completed >= 2_000_000
          && isFirst.withLock { isFirst in
            defer { isFirst = false }
            return isFirst
          }
        if isNow { midway() }
      }
      printLine("resumed \(file.resumedBytes)")
      printLine("done \(file.size)")
    } catch {
      let folder = path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
      let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      printLine("error \(error)")
      printLine("files \(names.sorted().joined(separator: " "))")
    }
  }

  /// Downloads a file, and prints `verified` instead of renaming it.
  private static func verify(_ url: String, _ path: String) async {
    var options = DownloadOptions()
    options.willPublish = { _ in
      printLine("verified")
      try? await Task.sleep(for: .seconds(3600))
    }
    _ = try? await api.download(.url(url), to: path, options: options)
  }

  /// Sends a file as an unprivileged user, who may not be able to read it.
  private static func sendUnreadable(_ path: String, to url: String, _ variant: String) async {
    if geteuid() == 0 { setuid(65_534) }
    let film = Request<Content>.post(.url(url), content: .file(path))
    do throws(CallError) {
      switch variant {
      case "tus": _ = try await api.upload(film, by: .tus())
      case "ietf": _ = try await api.upload(film, by: .ietf())
      default: _ = try await api.send(film)
      }
      printLine("done 0")
    } catch {
      printLine("error \(error.code) \(error.requestState) \(error.detail)")
    }
  }

  private static func upload(_ path: String, to url: String, _ uploadProtocol: UploadProtocol, _ folder: String) async {
    let progress = ProgressReporter()
    let film = Request<Content>.post(.url(url), content: .file(path)).uploadProgress(progress)
    async let printed: Void = {
      for await step in progress { printLine("bytes \(step.completed)") }
    }()
    do {
      let options = UploadOptions(store: FileTransferStore(folder))
      let result = try await api.upload(film, by: uploadProtocol, options: options)
      await printed
      printLine("resumed \(result.resumedBytes)")
      printLine("done \(result.size)")
    } catch {
      printLine("error \(error)")
    }
  }

  private struct QueuedFilm: Endpoint, TransferEndpoint {
    let url: String
    var request: Request<Content> { .get(.url(url)) }
  }

  private struct QueuedClip: Endpoint, TransferEndpoint {
    let url: String
    let path: String
    var request: Request<Void> { .post(.url(url), content: .file(path)) }
  }

  private static func queue(_ variant: String, _ url: String, _ path: String, _ folder: String) async {
    do {
      let transfers = try await Transfers(api, store: FileTransferStore(folder), account: "ada") {
        $0.downloads(of: QueuedFilm.self) { _, file in note(file.size, path) }
        $0.uploads(of: QueuedClip.self, by: .tus()) { _, result in note(result.size, path) }
      }
      let updates = transfers.updates
      let request = path + ".add"
      if variant == "dying" { dieWhenFileExists(path) }
      if FileManager.default.fileExists(atPath: request) {
        if variant == "upload" {
          try await transfers.upload(QueuedClip(url: url, path: path))
        } else {
          try await transfers.download(QueuedFilm(url: url), to: path)
        }
        try? FileManager.default.removeItem(atPath: request)
        printLine("added \(transfers.all.count)")
      }
      for await list in updates {
        guard let transfer = list.first else { break }
        if case .failed(let error) = transfer.state { return printLine("error \(error)") }
        printLine("bytes \(transfer.progress.completed)")
      }
      printLine("done 0")
    } catch {
      printLine("error \(error)")
    }
  }

  /// Kills this process from a thread that polls for a file.
  private static func dieWhenFileExists(_ path: String) {
    Thread.detachNewThread {
      while access(path, F_OK) != 0 {}
      kill(getpid(), SIGKILL)
    }
  }

  /// Prints the results of queue commands while the disk with the store is full.
  private static func fillStore(_ url: String, _ path: String, _ folder: String, _ other: String) async {
    do throws(CallError) {
      let scheduler = Scheduler()
      scheduler.pauseAll()
      let configure = { @Sendable (configuration: inout TransfersConfiguration) in
        configuration.scheduler = scheduler
        configuration.downloads(of: QueuedFilm.self) { _, file in printLine("complete \(file.size)") }
      }
      let transfers = try await Transfers(api, store: FileTransferStore(folder), configure)
      let id = try await transfers.download(QueuedFilm(url: url), to: path)
      fill(other)
      for command in ["add", "pause"] {
        do throws(CallError) {
          if command == "add" {
            try await transfers.download(QueuedFilm(url: url + "?2"), to: path + "2")
          } else {
            try await transfers.pause(id)
          }
          printLine("\(command) succeeded")
        } catch {
          printLine("\(command) \(error.code) \(error.detail) \(transfers.all.count)")
        }
      }
      await transfers.close()
      try? FileManager.default.removeItem(atPath: other)
      let next = try await Transfers(api, store: FileTransferStore(folder), configure)
      printLine("listed \(next.all.count)")
      scheduler.resumeAll()
      try? await next.resume(id)
      try await next.completion(of: id)
      printLine("done 0")
    } catch {
      printLine("error \(error)")
    }
  }

  /// Adds a line to the log of complete transfers.
  private static func note(_ size: Int64, _ path: String) {
    let log = path + ".log"
    // `FileManager` would leave a temporary file if the process died meanwhile.
    let descriptor = open(log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
    guard descriptor >= 0 else { return printLine("error the log cannot be opened") }
    let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: false)
    try? file.write(contentsOf: Data("\(size)\n".utf8))
    try? file.close()
  }

  /// Writes a file until the disk is full.
  private static func fill(_ path: String) {
    guard FileManager.default.createFile(atPath: path, contents: nil), let file = FileHandle(forWritingAtPath: path)
    else { return }
    for size in [1 << 16, 1 << 12, 1] {
      while (try? file.write(contentsOf: Data(repeating: 0, count: size))) != nil {}
    }
    try? file.close()
  }

  /// Transfers a file. Prints the difference between the peak memory use of the process and its memory use before it
  /// created its client.
  private static func measure(_ variant: String, _ url: String, _ path: String) async {
    do {
      let before = try memory("VmRSS")
      let api = Client(environment: Environment(baseURL: "http://127.0.0.1"), transport: NIOTransport())
      switch variant {
      case "download": _ = try await api.download(Request<Content>.get(.url(url)), to: path)
      case "upload": try await api.send(Request<Void>.put(.url(url), content: .file(path)))
      default: try await api.send(Request<Void>.put(.url(url), content: .multipart([.file("file", at: path)])))
      }
      printLine("grown \(try memory("VmHWM") - before)")
    } catch {
      printLine("error \(error)")
    }
  }

  /// Returns a value of `/proc/self/status` in KiB. `VmHWM` is the peak of `VmRSS`.
  private static func memory(_ name: String) throws -> Int {
    let lines = try String(contentsOfFile: "/proc/self/status", encoding: .utf8).split(separator: "\n")
    let line = lines.first { $0.hasPrefix("\(name):") }
    guard let number = line.flatMap({ Int($0.filter(\.isNumber)) }) else { throw CocoaError(.fileReadCorruptFile) }
    return number
  }

  /// Limits the file size: writes beyond it fail, as on a full disk.
  private static func limitFiles(to size: UInt64) {
    signal(SIGXFSZ, SIG_IGN)
    var limit = rlimit(rlim_cur: rlim_t(size), rlim_max: rlim_t(size))
    #if canImport(Glibc)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
    setrlimit(RLIMIT_FSIZE, &limit)
    #endif
  }

  /// Prints a line without buffering, unlike `print`, because the test waits for each line.
  static func printLine(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
  }
}
