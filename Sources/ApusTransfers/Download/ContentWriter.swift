import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The writer of a response's content (body) to the incomplete file.
///
/// Pieces are gathered for up to 100 milliseconds into writes of about 256 KiB. A separate thread performs one write at
/// a time while the next is gathered: memory is bounded, and a slow disk slows down the reading of the response.
struct ContentWriter {
  /// The threads on which a download uses the file.
  struct Queues {
    let writes = FileQueue("writes")
    /// A separate queue, because flushes are slow and writing continues meanwhile.
    let checkpoints = FileQueue("checkpoints")
  }

  /// The file, queues and limits shared by all writers of a download.
  struct Resources {
    let file: PartialFile
    let queues: Queues
    let clock: any MonotonicClock
    /// The number of bytes after which content is flushed to the disk.
    let checkpointInterval: Int64
  }

  /// How the written bytes are recorded.
  enum Recording {
    /// The bytes are not recorded, because the download cannot be resumed.
    case none
    /// The bytes are the first bytes of the file. The record is written at checkpoints.
    case prefix(DownloadRecord)
    /// The bytes are one of several ranges, recorded in a slot of the log.
    case range(RangeLog, slot: Int)
  }

  private let resources: Resources
  /// The digests over the written bytes.
  private let digests: [DigestStream]
  private let recording: Recording
  private var gathered = Data()
  /// The offset after the gathered bytes.
  private(set) var offset: Int64
  /// The offset before which all bytes are written.
  private(set) var written: Int64
  private var write: (end: Int64, work: FileWork<Void>)?
  private var lastWrite: MonotonicInstant
  private var checkpoint: FileWork<Void>?
  private var lastCheckpoint: Int64

  init(_ resources: Resources, from offset: Int64, digests: [DigestStream], recording: Recording) {
    self.resources = resources
    self.digests = digests.filter(\.isNeeded)
    self.recording = recording
    (self.offset, written, lastCheckpoint) = (offset, offset, offset)
    lastWrite = resources.clock.now
  }

  /// Adds a piece of content. Waits if a write is running and enough bytes for the next write are gathered.
  mutating func append(_ piece: Data) async throws(TransferError) {
    offset += Int64(piece.count)
    if gathered.isEmpty, piece.count >= Self.writeSize {
      try await startWrite(of: piece)
      return
    }
    if gathered.isEmpty { gathered.reserveCapacity(Self.writeSize) }
    gathered.append(piece)
    let isDue =
      gathered.count >= Self.writeSize || lastWrite.duration(to: resources.clock.now) >= Self.maximumGatheringTime
    if isDue { try await flush() }
  }

  /// Writes all gathered bytes and waits until no write or flush is running, even after an error.
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
    let (file, digests, recording, start) = (resources.file, digests, recording, written)
    lastWrite = resources.clock.now
    let work = resources.queues.writes.start {
      try bytes.withUnsafeBytes { buffer in
        try file.write(buffer, at: start)
        for digest in digests { digest.update(buffer) }
      }
      if case .range(let log, let slot) = recording { try log.add(start..<start + Int64(bytes.count), to: slot) }
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
    guard case .prefix(var record) = recording, written - lastCheckpoint >= resources.checkpointInterval else { return }
    lastCheckpoint = written
    record.durable = written
    let file = resources.file
    checkpoint = resources.queues.checkpoints.start { [record] in try file.checkpoint(record) }
  }

  static let writeSize = 256 << 10
  private static let maximumGatheringTime = Duration.milliseconds(100)
}

extension PartialFile {
  /// Flushes the content to the disk and then replaces the record.
  func checkpoint(_ record: DownloadRecord) throws(TransferError) {
    try flush()
    guard let bytes = record.encoded() else { return }
    try save(bytes)
  }
}
