import Foundation
import Synchronization

/// Reads a descriptor piece by piece, on a thread that may wait for it.
final class DescriptorReader: Sendable {
  private let descriptor: Int32
  private let place: String
  private let closes: Bool
  private let blocking: Blocking

  /// - Parameters:
  ///   - descriptor: where to read.
  ///   - place: its name, for a person.
  ///   - closes: whether the descriptor is closed when nobody holds the reader any more.
  init(_ descriptor: Int32, place: String, closes: Bool) {
    self.descriptor = descriptor
    self.place = place
    self.closes = closes
    blocking = Blocking("read")
  }

  static func standardInput() -> DescriptorReader {
    DescriptorReader(STDIN_FILENO, place: "standard input", closes: false)
  }

  /// The next bytes as they come, never none; `nil` at the end.
  ///
  /// - Throws: ``InputError``; `CancellationError` at once when the task is cancelled.
  func next() async throws -> Data? {
    let result = try await blocking.runUnlessCancelled { [self] in read() }
    return try result.get()
  }

  private func read() -> Result<Data?, InputError> {
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
    if closes { close(descriptor) }
  }
}
