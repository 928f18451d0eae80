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
      guard mayGoOn(after: number, descriptor, POLLIN) else {
        return .failure(InputError(place: place, number: number))
      }
    }
  }

  /// Writes all bytes, however long that takes.
  static func write(_ bytes: Data, to descriptor: Int32, place: String) -> Result<Void, OutputError> {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
        continue
      }
      let number = errno
      guard mayGoOn(after: number, descriptor, POLLOUT) else {
        return .failure(OutputError(place: place, number: number))
      }
    }
    return .success(())
  }

  /// Whether what failed with this number is to be tried again; where nothing is ready yet, waits until it is.
  private static func mayGoOn(after number: Int32, _ descriptor: Int32, _ event: Int32) -> Bool {
    switch number {
    case EINTR: return true
    case EAGAIN:
      // Whoever started us may have left the descriptor in this state.
      var wait = pollfd(fd: descriptor, events: Int16(event), revents: 0)
      _ = poll(&wait, 1, -1)
      return true
    default: return false
    }
  }
}
