import ApusCore
import ApusMiddleware
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A download before its first request: its files are open and locked, and the usable bytes of an earlier download are
/// known.
struct OpenedDownload: Sendable {
  let file: PartialFile
  let queues: ContentWriter.Queues
  let options: DownloadOptions
  let source: DownloadSource
  let state: DownloadState
  /// The ranges on disk, if they are not contiguous.
  var gapped: ByteRanges?

  /// Opens the files beside a path.
  ///
  /// - Parameter rules: the rules that follow from the request.
  /// - Throws: ``TransferError``
  static func open(
    _ path: String, _ options: DownloadOptions, _ source: DownloadSource, _ rules: DownloadState.Rules
  ) async throws(TransferError) -> OpenedDownload {
    let queues = ContentWriter.Queues()
    return try await queues.writes.run {
      let file = try PartialFile.open(path, replacing: options.replacesExisting)
      do throws(TransferError) {
        let (state, gapped) = try state(of: file, options, source, rules)
        return OpenedDownload(
          file: file, queues: queues, options: options, source: source, state: state, gapped: gapped)
      } catch {
        file.removeIfEmpty()
        file.release()
        throw error
      }
    }
  }

  /// Determines the bytes that can be used, and removes all other bytes.
  private static func state(
    of file: PartialFile, _ options: DownloadOptions, _ source: DownloadSource, _ rules: DownloadState.Rules
  ) throws(TransferError) -> (DownloadState, gapped: ByteRanges?) {
    guard options.resumes, let record = try file.record().flatMap({ DownloadRecord($0) }),
      record.source == source.hash, record.isComplete || rules.permitsRanges
    else {
      try file.restart(with: nil)
      return (DownloadState(rules), nil)
    }
    if record.isComplete {
      let now = Int64(Date().timeIntervalSince1970)
      if record.permitsPublishing(try file.size, now: now) {
        return (DownloadState(rules, complete: record.representation), nil)
      }
      try file.restart(with: nil)
      return (DownloadState(rules), nil)
    }
    let present = try record.hasGaps ? gapped(file, record) : nil
    if let present, !present.isPrefix {
      return (DownloadState(rules, continuing: record.representation, kept: present.prefix), present)
    }
    let size = try file.size
    let trusted = present?.prefix ?? record.trusted(of: size, boot: BootSession.current)
    try file.cut(to: trusted, record)
    return (DownloadState(rules, continuing: record.representation, kept: trusted), nil)
  }

  /// Returns the bytes of a file with gaps, all of them flushed and in the record.
  private static func gapped(_ file: PartialFile, _ record: DownloadRecord) throws(TransferError) -> ByteRanges {
    var record = record
    var present = record.flushed
    if record.boot == BootSession.current, record.boot != nil {
      for range in try RangeTable.ranges(of: file, total: record.total) { present.insert(range) }
    }
    present = present.clipped(to: min(try file.size, record.total))
    record.set(present)
    record.boot = BootSession.current
    // Flush before removing the table. Throws if the system lost accepted bytes.
    try file.checkpoint(record)
    try file.truncate(to: present.ranges.last?.upperBound ?? 0)
    return present
  }
}

extension PartialFile {
  /// Removes all bytes except those before an offset, and replaces the record. When this returns, both changes are on
  /// the disk.
  ///
  /// The record is replaced last, because a record without gaps relies on the length of the file.
  func cut(to length: Int64, _ record: DownloadRecord) throws(TransferError) {
    try truncate(to: length)
    var record = record
    record.set(prefix: length)
    record.boot = BootSession.current
    // Throws if the system lost accepted bytes.
    try checkpoint(record)
  }
}

extension Request {
  /// Whether the app itself decides which content codings are accepted.
  var setsCoding: Bool { fields.contains { $0.name.lowercased() == "accept-encoding" } }

  /// Whether several calls of this request may run concurrently.
  var permitsSiblings: Bool { options.id == nil || options.duplicatePolicy == .allow }

  /// The request for the file, without a content coding. A cache is not used: the file itself is what is stored.
  var identity: Request<Value> {
    let request = cache(.none)
    return setsCoding ? request : request.field("Accept-Encoding", "identity")
  }

  /// Returns the request for a range, or for the complete file if it has changed.
  ///
  /// Accepts the statuses with which servers reject the range or its condition although they serve the complete file.
  ///
  /// - Parameter range: the range as in the field (header), such as `500-`.
  func range(_ range: String, ifRange validator: String) -> Request<Value> {
    let acceptance = acceptance
    return field("Range", "bytes=\(range)").field("If-Range", validator)
      .accepting(StatusAcceptance { [304, 400, 416, 501].contains($0) || acceptance.contains($0) })
  }

  /// Returns the rules of a download with this request.
  func downloadRules(_ options: DownloadOptions) -> DownloadState.Rules {
    // The client's limit is for content in memory. A limit of the request is deliberate.
    let limits = [options.maximumSize, self.options.contentLimit.map { Int64($0) }]
    return DownloadState.Rules(
      permitsRanges: method == .get, maximumSize: limits.compactMap(\.self).min(),
      continuations: options.maximumContinuations)
  }
}
