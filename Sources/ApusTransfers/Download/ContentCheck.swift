package import Foundation

/// A check of the content (body) of a file, for checksums for which HTTP has no field.
package protocol ContentCheck: Sendable {
  /// Adds the next bytes.
  func update(_ bytes: Data)
  /// Whether the bytes so far are the expected content.
  var isMatch: Bool { get }
}

extension PartialFile {
  /// Checks the first bytes of the file.
  ///
  /// - Throws: ``TransferError``: `digestMismatch`, or `interrupted` when the task is cancelled.
  func perform(_ check: any ContentCheck, upTo end: Int64, on queue: FileQueue) async throws(TransferError) {
    try await readAll(upTo: end, on: queue) { bytes in
      check.update(Data(bytes))
    }
    guard check.isMatch else { throw TransferError(.digestMismatch) }
  }
}
