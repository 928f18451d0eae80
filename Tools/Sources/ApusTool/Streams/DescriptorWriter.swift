import Foundation

/// Writes to a descriptor, whole pieces one after the other, on a thread that may wait for it.
final class DescriptorWriter: Sendable {
  private let descriptor: Int32
  private let place: String
  private let blocking: Blocking

  init(_ descriptor: Int32, place: String) {
    self.descriptor = descriptor
    self.place = place
    blocking = Blocking("write")
  }

  static func standardOutput() -> DescriptorWriter {
    DescriptorWriter(STDOUT_FILENO, place: "standard output")
  }

  static func standardError() -> DescriptorWriter {
    DescriptorWriter(STDERR_FILENO, place: "standard error")
  }

  /// Writes all bytes.
  ///
  /// - Throws: ``OutputError``; `CancellationError` at once when the task is cancelled, though a reader is slow.
  func write(_ bytes: Data) async throws {
    try await blocking.runUnlessCancelled { [self] in writeAll(bytes) }.get()
  }

  /// Writes all bytes, however long the reader takes, also in a cancelled task.
  ///
  /// - Throws: ``OutputError``
  func writeToTheEnd(_ bytes: Data) async throws(OutputError) {
    try await blocking.run { [self] in writeAll(bytes) }.get()
  }

  /// Has the bytes written in their turn, and waits for nothing: for what may be lost.
  func enqueue(_ text: String) {
    blocking.start { [self] in _ = writeAll(Data(text.utf8)) }
  }

  /// Writes a short text here and now, before there are tasks.
  func say(_ text: String) {
    _ = writeAll(Data(text.utf8))
  }

  private func writeAll(_ bytes: Data) -> Result<Void, OutputError> {
    Descriptor.write(bytes, to: descriptor, place: place)
  }
}
