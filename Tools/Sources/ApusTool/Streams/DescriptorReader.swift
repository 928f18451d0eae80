import Foundation
import Synchronization

/// Reads a descriptor piece by piece, on a thread that may wait for it.
final class DescriptorReader: Sendable {
  private enum Source {
    case open(Int32)
    /// Opened with the first piece: that may take as long as somebody takes to write.
    case closed(path: String)
    case opened(Int32)
  }

  private let place: String
  private let source: Mutex<Source>
  private let blocking = Blocking("read")

  /// Reads what is open, and leaves it open.
  init(_ descriptor: Int32, place: String) {
    self.place = place
    source = Mutex(.open(descriptor))
  }

  /// Reads a pipe or a device with a name.
  init(path: String) {
    place = path
    source = Mutex(.closed(path: path))
  }

  static func standardInput() -> DescriptorReader {
    DescriptorReader(STDIN_FILENO, place: "standard input")
  }

  /// The next bytes as they come, never none; `nil` at the end.
  ///
  /// - Throws: ``InputError``; `CancellationError` at once when the task is cancelled.
  func next() async throws -> Data? {
    try await blocking.runUnlessCancelled { [self] in read() }.get()
  }

  /// One at a time, since the queue is.
  private func descriptor() -> Int32 {
    switch source.withLock({ $0 }) {
    case .open(let descriptor), .opened(let descriptor): return descriptor
    case .closed(let path):
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      if descriptor >= 0 { source.withLock { $0 = .opened(descriptor) } }
      return descriptor
    }
  }

  private func read() -> Result<Data?, InputError> {
    let descriptor = descriptor()
    guard descriptor >= 0 else { return .failure(InputError(place: place, number: errno)) }
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = bytes.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
      if count > 0 { return .success(Data(bytes.prefix(count))) }
      if count == 0 { return .success(nil) }
      let number = errno
      switch number {
      case EINTR: continue
      case EAGAIN:
        // Whoever started us may have left the descriptor in this state.
        var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = poll(&wait, 1, -1)
      default: return .failure(InputError(place: place, number: number))
      }
    }
  }

  deinit {
    if case .opened(let descriptor) = source.withLock({ $0 }) { close(descriptor) }
  }
}
