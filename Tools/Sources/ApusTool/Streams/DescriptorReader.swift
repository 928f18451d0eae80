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
      let descriptor = Descriptor.open(path, O_RDONLY)
      if descriptor >= 0 { source.withLock { $0 = .opened(descriptor) } }
      return descriptor
    }
  }

  private func read() -> Result<Data?, InputError> {
    let descriptor = descriptor()
    guard descriptor >= 0 else { return .failure(InputError(place: place, number: errno)) }
    return Descriptor.read(descriptor, place: place)
  }

  deinit {
    if case .opened(let descriptor) = source.withLock({ $0 }) { close(descriptor) }
  }
}
