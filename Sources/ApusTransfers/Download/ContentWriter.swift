import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The writer of a response's content (body) to the incomplete file.
///
/// Pieces are gathered for up to 100 milliseconds into writes of about 256 KiB. One write at a time runs on a thread of
/// its own while the next is gathered, so memory is bounded, and a slow disk slows down the reading of the response.
struct ContentWriter {
  /// The threads on which a download uses the file.
  struct Queues {
    let writes = FileQueue("writes")
    /// Flushes are slow, and writing continues meanwhile.
    let checkpoints = FileQueue("checkpoints")
  }

  /// The means of a download that all its writers use.
  struct Means {
    let file: PartialFile
    let queues: Queues
    let clock: any MonotonicClock
    /// The number of bytes after which content is flushed.
    let checkpointInterval: Int64
  }

  /// The account of the written bytes.
  enum Account {
    /// The download cannot be resumed.
    case none
    /// The bytes are the first ones of the file. The record is written at checkpoints.
    case prefix(DownloadRecord)
    /// The bytes are one of several ranges, in a slot of the log.
    case range(RangeLog, slot: Int)
  }

  private let means: Means
  /// The digests over the written bytes.
  private let digests: [DigestStream]
  private let account: Account
  private var gathered = Data()
  /// The offset after the gathered bytes.
  private(set) var offset: Int64
  /// The offset before which all bytes are written.
  private(set) var written: Int64
  private var write: (end: Int64, work: FileWork<Void>)?
  private var lastWrite: MonotonicInstant
  private var checkpoint: FileWork<Void>?
  private var lastCheckpoint: Int64

  init(_ means: Means, from offset: Int64, digests: [DigestStream], account: Account) {
    self.means = means
    self.digests = digests.filter(\.isNeeded)
    self.account = account
    (self.offset, written, lastCheckpoint) = (offset, offset, offset)
    lastWrite = means.clock.now
  }

  /// Adds a piece of content. Waits if a write is running and the next one is complete.
  mutating func append(_ piece: Data) async throws(TransferError) {
    offset += Int64(piece.count)
    if gathered.isEmpty, piece.count >= Self.writeSize {
      try await startWrite(of: piece)
      return
    }
    if gathered.isEmpty { gathered.reserveCapacity(Self.writeSize) }
    gathered.append(piece)
    let isDue = gathered.count >= Self.writeSize || lastWrite.duration(to: means.clock.now) >= Self.longestGathering
    if isDue { try await flush() }
  }

  /// Writes all gathered bytes and waits until nothing runs, also after an error.
  mutating func finish() async throws(TransferError) {
    do throws(TransferError) {
      try await flush()
      try await awaitWrite()
    } catch {
      _ = try? await checkpoint?.value
      throw error
    }
    let running = checkpoint
    checkpoint = nil
    try await running?.value
  }

  private mutating func flush() async throws(TransferError) {
    guard !gathered.isEmpty else { return }
    let bytes = gathered
    gathered = Data()
    try await startWrite(of: bytes)
  }

  private mutating func startWrite(of bytes: Data) async throws(TransferError) {
    try await awaitWrite()
    let (file, digests, account, start) = (means.file, digests, account, written)
    lastWrite = means.clock.now
    let work = means.queues.writes.start {
      try bytes.withUnsafeBytes { buffer in
        try file.write(buffer, at: start)
        for digest in digests { digest.update(buffer) }
      }
      if case .range(let log, let slot) = account { try log.add(start..<start + Int64(bytes.count), to: slot) }
    }
    write = (start + Int64(bytes.count), work)
  }

  private mutating func awaitWrite() async throws(TransferError) {
    guard let (end, work) = write else { return }
    write = nil
    try await work.value
    written = end
    try await startCheckpoint()
  }

  private mutating func startCheckpoint() async throws(TransferError) {
    if let running = checkpoint {
      guard running.isDone else { return }
      checkpoint = nil
      try await running.value
    }
    guard case .prefix(var record) = account, written - lastCheckpoint >= means.checkpointInterval else { return }
    lastCheckpoint = written
    record.durable = written
    let file = means.file
    checkpoint = means.queues.checkpoints.start { [record] in try file.checkpoint(record) }
  }

  static let writeSize = 256 << 10
  private static let longestGathering = Duration.milliseconds(100)
}

extension PartialFile {
  /// Flushes the content to the disk and then replaces the record.
  func checkpoint(_ record: DownloadRecord) throws(TransferError) {
    try flush()
    guard let bytes = record.encoded() else { return }
    try save(bytes)
  }
}
