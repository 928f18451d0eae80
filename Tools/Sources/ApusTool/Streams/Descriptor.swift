import Foundation
import Synchronization

/// System calls on file descriptors, restarted when a signal interrupts them.
enum Descriptor {
  /// Opens a file, which child processes do not inherit. Opening a named pipe blocks until its other end is open.
  ///
  /// - Returns: the descriptor; below 0, with `errno` set, on failure.
  static func open(_ path: String, _ flags: Int32, mode: mode_t = 0o666) -> Int32 {
    while true {
      let descriptor = Foundation.open(path, flags | O_CLOEXEC, mode)
      if descriptor >= 0 || errno != EINTR { return descriptor }
    }
  }

  /// Reads the next bytes, blocking until they arrive; `nil` at the end.
  static func read(_ descriptor: Int32, place: String) -> Result<Data?, InputError> {
    var bytes = [UInt8](repeating: 0, count: 64 << 10)
    while true {
      let count = bytes.withUnsafeMutableBytes { Foundation.read(descriptor, $0.baseAddress, $0.count) }
      if count > 0 { return .success(Data(bytes.prefix(count))) }
      if count == 0 { return .success(nil) }
      let number = errno
      guard canRetry(after: number, descriptor, POLLIN) else {
        return .failure(InputError(place: place, number: number))
      }
    }
  }

  /// Writes all bytes, blocking until done.
  static func write(_ bytes: Data, to descriptor: Int32, place: String) -> Result<Void, OutputError> {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      if count >= 0 {
        rest = rest.dropFirst(count)
        continue
      }
      let number = errno
      guard canRetry(after: number, descriptor, POLLOUT) else {
        return .failure(OutputError(place: place, number: number))
      }
    }
    return .success(())
  }

  /// Whether to repeat a call that failed with an error number. Waits until the descriptor is ready, if necessary.
  private static func canRetry(after number: Int32, _ descriptor: Int32, _ event: Int32) -> Bool {
    switch number {
    case EINTR: return true
    case EAGAIN:
      // The parent process may have made the descriptor non-blocking.
      var wait = pollfd(fd: descriptor, events: Int16(event), revents: 0)
      _ = poll(&wait, 1, -1)
      return true
    default: return false
    }
  }
}

/// A reader of a descriptor, piece by piece, on a thread that may block.
final class DescriptorReader: Sendable {
  private enum Source {
    case open(Int32)
    /// The path is opened at the first read, which may block until there is a writer.
    case closed(path: String)
    case opened(Int32)
  }

  private let place: String
  private let source: Mutex<Source>
  private let blocking = Blocking("read")

  /// Reads an open descriptor; does not close it.
  init(_ descriptor: Int32, place: String) {
    self.place = place
    source = Mutex(.open(descriptor))
  }

  /// Reads a named pipe or a device.
  init(path: String) {
    place = path
    source = Mutex(.closed(path: path))
  }

  static func standardInput() -> DescriptorReader {
    DescriptorReader(STDIN_FILENO, place: "standard input")
  }

  /// Returns the next bytes, never empty; `nil` at the end.
  ///
  /// - Throws: ``InputError``; `CancellationError` immediately when the task is cancelled.
  func next() async throws -> Data? {
    try await blocking.runUnlessCancelled { [self] in read() }.get()
  }

  /// Opens the descriptor at the first call. Not called concurrently, because the queue is serial.
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

/// A writer to a descriptor, one piece after another, on a thread that may block.
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
  /// - Throws: ``OutputError``; `CancellationError` immediately when the task is cancelled, even if the reader is slow.
  func write(_ bytes: Data) async throws {
    try await blocking.runUnlessCancelled { [self] in writeAll(bytes) }.get()
  }

  /// Writes all bytes, even in a cancelled task.
  ///
  /// - Throws: ``OutputError``
  func writeToTheEnd(_ bytes: Data) async throws(OutputError) {
    try await blocking.run { [self] in writeAll(bytes) }.get()
  }

  /// Writes a message, even in a cancelled task. Ignores errors, because they cannot be reported anywhere.
  func writeMessage(_ text: String) async {
    try? await writeToTheEnd(Data(text.utf8))
  }

  /// Queues a text without waiting. The text may be lost.
  func enqueue(_ text: String) {
    blocking.start { [self] in _ = writeAll(Data(text.utf8)) }
  }

  /// Writes a short text synchronously, before tasks are started.
  func writeNow(_ text: String) {
    _ = writeAll(Data(text.utf8))
  }

  private func writeAll(_ bytes: Data) -> Result<Void, OutputError> {
    Descriptor.write(bytes, to: descriptor, place: place)
  }
}

/// The process's limit of open files and sockets.
enum OpenFiles {
  /// Raises the soft limit to the hard limit.
  ///
  /// - Returns: the limit; `Int.max` if there is none.
  static func raiseLimit() -> Int {
    var limit = rlimit()
    #if canImport(Glibc)
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    #else
    let resource = RLIMIT_NOFILE
    #endif
    guard getrlimit(resource, &limit) == 0 else { return .max }
    var raised = limit
    raised.rlim_cur = limit.rlim_max
    #if canImport(Darwin)
    // The system rejects limits above `OPEN_MAX`, although the hard limit is infinite.
    raised.rlim_cur = min(raised.rlim_cur, rlim_t(OPEN_MAX))
    #endif
    if limit.rlim_cur < raised.rlim_cur, setrlimit(resource, &raised) == 0 { limit = raised }
    return Int(clamping: limit.rlim_cur)
  }
}
