import Foundation

/// Keeps others, in this process and in all, from changing a folder at the same time. It goes with its process.
final class FolderLock: Sendable {
  private let descriptor: Int32

  /// Waits until nobody else has it, on a thread that may wait.
  ///
  /// - Parameter path: a file, which is made where it is missing and never removed.
  /// - Throws: ``OutputError``; `CancellationError` at once when the task is cancelled.
  static func taken(_ path: String) async throws -> FolderLock {
    try await Blocking("lock").runUnlessCancelled {
      Result { () throws(OutputError) in try FolderLock(path) }
    }.get()
  }

  private init(_ path: String) throws(OutputError) {
    descriptor = Descriptor.open(path, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
    guard descriptor >= 0 else { throw OutputError(place: path, number: errno) }
    while flock(descriptor, LOCK_EX) != 0 {
      let number = errno
      guard number == EINTR else { throw OutputError(place: path, number: number) }
    }
  }

  /// Lets the next one have it.
  func release() {
    flock(descriptor, LOCK_UN)
  }

  deinit {
    if descriptor >= 0 { close(descriptor) }
  }
}
