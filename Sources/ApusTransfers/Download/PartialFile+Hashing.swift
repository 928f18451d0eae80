extension PartialFile {
  /// Adds the first bytes of the file to digests, if any are needed.
  ///
  /// - Throws: ``TransferError``, with the reason `interrupted` when the task is cancelled.
  func hash(with stream: DigestStream, upTo end: Int64, on queue: FileQueue) async throws(TransferError) {
    guard stream.isNeeded else { return }
    try await readAll(upTo: end, on: queue) { bytes in bytes.withUnsafeBytes { stream.update($0) } }
  }

  /// Reads the first bytes of the file in pieces.
  ///
  /// - Throws: ``TransferError``, with the reason `interrupted` when the task is cancelled.
  func readAll(
    upTo end: Int64, on queue: FileQueue, _ body: @escaping @Sendable ([UInt8]) -> Void
  ) async throws(TransferError) {
    var offset: Int64 = 0
    while offset < end {
      guard !Task.isCancelled else { throw TransferError(.interrupted) }
      let (start, count) = (offset, Int(min(end - offset, 1 << 20)))
      try await queue.run { [self] in
        let bytes = try read(count, at: start)
        guard bytes.count == count else { throw TransferError.unreadable }
        body(bytes)
      }
      offset += Int64(count)
    }
  }
}
