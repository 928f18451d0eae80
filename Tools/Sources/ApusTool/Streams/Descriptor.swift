import Foundation

/// The system's calls on descriptors, begun again where a signal interrupts them.
enum Descriptor {
  /// Opens a file, which programs that are started do not inherit; for a pipe with a name that takes as long as nobody
  /// is at its other end.
  ///
  /// - Returns: the descriptor, or below 0 with `errno` set.
  static func open(_ path: String, _ flags: Int32, mode: mode_t = 0o666) -> Int32 {
    while true {
      let descriptor = Foundation.open(path, flags | O_CLOEXEC, mode)
      if descriptor >= 0 || errno != EINTR { return descriptor }
    }
  }

  /// The next bytes, however long they take; `nil` at the end.
  static func read(_ descriptor: Int32, place: String) -> Result<Data?, InputError> {
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
}
