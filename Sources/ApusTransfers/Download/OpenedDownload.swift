#if Transfers
import ApusCore
import HTTPTypes

/// A download before its first request: its files are open and locked, and the bytes of an earlier download are found.
struct OpenedDownload: Sendable {
  let file: PartialFile
  let queues: ContentWriter.Queues
  let options: DownloadOptions
  let source: DownloadSource
  let state: DownloadState

  /// Opens the files beside a path.
  ///
  /// - Parameter rules: the rules that the request sets.
  /// - Throws: ``TransferError``
  static func open(
    _ path: String, _ options: DownloadOptions, _ source: DownloadSource, _ rules: DownloadState.Rules
  ) async throws(TransferError) -> OpenedDownload {
    let queues = ContentWriter.Queues()
    return try await queues.writes.run { () throws(TransferError) in
      let file = try PartialFile.open(path, replacing: options.replacesExisting)
      do throws(TransferError) {
        let state = try state(of: file, options, source, rules)
        return OpenedDownload(file: file, queues: queues, options: options, source: source, state: state)
      } catch {
        file.removeIfEmpty()
        file.release()
        throw error
      }
    }
  }

  /// Finds the bytes that can be used, and removes all others.
  private static func state(
    of file: PartialFile, _ options: DownloadOptions, _ source: DownloadSource, _ rules: DownloadState.Rules
  ) throws(TransferError) -> DownloadState {
    let boot = BootSession.current
    guard options.resumes, rules.permitsRanges, var record = try file.record().flatMap({ DownloadRecord($0) }),
      record.source == source.hash
    else {
      try file.restart(with: nil)
      return DownloadState(rules)
    }
    let trusted = record.trusted(of: try file.size, boot: boot)
    try file.descriptor.truncate(to: trusted)
    (record.durable, record.boot) = (trusted, boot)
    // Fails if the system has lost bytes that it had accepted.
    try file.checkpoint(record)
    return DownloadState(rules, continuing: record.representation, kept: trusted)
  }
}

extension Request {
  /// Whether the app itself decides which content codings are accepted.
  var setsCoding: Bool { fields.contains { $0.name.lowercased() == "accept-encoding" } }

  /// The rules of a download with this request.
  func downloadRules(_ options: DownloadOptions) -> DownloadState.Rules {
    DownloadState.Rules(
      permitsRanges: method == .get, permitsCoding: setsCoding, continuations: options.continuations)
  }
}
#endif
