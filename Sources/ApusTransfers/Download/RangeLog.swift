import Synchronization

/// The log of the bytes that a download with several ranges has written. Another process continues from the log.
///
/// The length of the incomplete file does not state which ranges are written. While ranges are written, the file
/// therefore ends with a table beyond the bytes of the download: the start and the end of each contiguous range,
/// updated after each write. Like the bytes, the table is in the system's cache and survives the death of the process.
/// The record contains the flushed bytes.
final class RangeLog: Sendable {
  private struct State {
    /// The bytes on disk at the start.
    let first: ByteRanges
    /// The bytes written since then, by slot of the table.
    var runs: [Range<Int64>] = []
    var unflushed: Int64 = 0
    var isFlushing = false
    var failure: TransferError?
  }

  private let file: PartialFile
  private let checkpoints: FileQueue
  private let checkpointInterval: Int64
  private let record: DownloadRecord
  private let state: Mutex<State>

  /// - Parameter present: the bytes on disk.
  init(_ resources: ContentWriter.Resources, _ record: DownloadRecord, present: ByteRanges) {
    (file, checkpoints, self.record) = (resources.file, resources.queues.checkpoints, record)
    checkpointInterval = resources.checkpointInterval
    state = Mutex(State(first: present))
  }

  /// The bytes on disk.
  var present: ByteRanges {
    state.withLock { state in state.runs.reduce(into: state.first) { $0.insert($1) } }
  }

  /// Returns the slot for bytes that are written from an offset on.
  func slot(from offset: Int64) -> Int {
    state.withLock { state in
      if let slot = state.runs.firstIndex(where: { $0.upperBound == offset }) { return slot }
      state.runs.append(offset..<offset)
      return state.runs.count - 1
    }
  }

  /// Records bytes that were written after the bytes of the same slot. Blocks.
  ///
  /// - Throws: ``TransferError``, including the error of an earlier flush.
  func add(_ range: Range<Int64>, to slot: Int) throws(TransferError) {
    let (run, isDue) = try state.withLock { (state) throws(TransferError) in
      if let failure = state.failure { throw failure }
      state.runs[slot] = state.runs[slot].lowerBound..<range.upperBound
      state.unflushed += range.upperBound - range.lowerBound
      let isDue = !state.isFlushing && state.unflushed >= checkpointInterval
      if isDue { (state.isFlushing, state.unflushed) = (true, 0) }
      return (state.runs[slot], isDue)
    }
    if slot < RangeTable.slots { try RangeTable.write(run, to: slot, of: file, total: record.total) }
    guard isDue else { return }
    _ = checkpoints.start { [self] in
      let result = Result { () throws(TransferError) in try checkpoint() }
      state.withLock { state in
        state.isFlushing = false
        if case .failure(let error) = result { state.failure = error }
      }
    }
  }

  /// Flushes the written bytes, and then replaces the record. Blocks.
  ///
  /// - Throws: ``TransferError``, including the error of an earlier flush, because the system reports a failed flush
  ///   only once.
  func checkpoint() throws(TransferError) {
    if let failure = state.withLock({ $0.failure }) { throw failure }
    // The record is computed before the flush, so that it does not claim bytes that arrive meanwhile.
    var record = record
    record.set(present)
    try file.checkpoint(record)
  }
}

/// The table of written bytes at the end of an incomplete file.
enum RangeTable {
  /// The maximum number of slots. Bytes without a slot are recorded when they are flushed.
  static let slots = 4096
  private static let slotLength: Int64 = 16
  private static let page: Int64 = 4096

  /// Returns the offset of the table. A slot never crosses a page, so a killed process leaves either its old or its new
  /// value.
  private static func offset(_ total: Int64) -> Int64 { (total + page - 1) / page * page }

  static func write(
    _ run: Range<Int64>, to slot: Int, of file: PartialFile, total: Int64
  ) throws(TransferError) {
    let start = offset(total) + Int64(slot) * slotLength
    let words = [run.lowerBound.littleEndian, run.upperBound.littleEndian]
    let result = words.withUnsafeBytes { bytes in
      Result { () throws(TransferError) in try file.write(bytes, at: start) }
    }
    try result.get()
  }

  /// Returns the written bytes. Slots that contradict the file are ignored.
  static func ranges(of file: PartialFile, total: Int64) throws(TransferError) -> [Range<Int64>] {
    let bytes = try file.read(slots * Int(slotLength), at: offset(total))
    return stride(from: 0, to: bytes.count - Int(slotLength) + 1, by: Int(slotLength)).compactMap { slot in
      let (start, end) = (number(bytes[slot..<slot + 8]), number(bytes[slot + 8..<slot + 16]))
      return 0 <= start && start < end && end <= total ? start..<end : nil
    }
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
    Int64(bitPattern: bytes.reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
  }
}
