import Foundation
import Synchronization
import Testing

/// A pipe to or from a program.
final class PipeEnds: Sendable {
  let read: Int32
  let write: Int32
  private let open: Mutex<Set<Int32>>

  init() throws {
    var ends: [Int32] = [0, 0]
    let result = pipe(&ends)
    try #require(result == 0)
    // The ends are not inherited, because the program would never see the end of the pipe.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    (read, write) = (ends[0], ends[1])
    open = Mutex(Set(ends))
  }

  /// Writes a short text.
  func send(_ text: String) {
    let bytes = Array(text.utf8)
    _ = Foundation.write(write, bytes, bytes.count)
  }

  /// Waits for output and returns it.
  func receive() async -> String {
    await withCheckedContinuation { waiter in
      Thread.detachNewThread { [read] in
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = Foundation.read(read, &bytes, bytes.count)
        waiter.resume(returning: String(decoding: bytes.prefix(max(0, count)), as: UTF8.self))
      }
    }
  }

  func closeReadEnd() { end(read) }

  func closeWriteEnd() { end(write) }

  private func end(_ descriptor: Int32) {
    if open.withLock({ $0.remove(descriptor) }) != nil { close(descriptor) }
  }

  deinit {
    closeReadEnd()
    closeWriteEnd()
  }
}
