import Foundation
import Synchronization

/// A file that is written atomically.
///
/// Content is written to `.NAME.RANDOM.part` in the same folder, which is renamed at the end. Pipes and devices are
/// written to directly. Links to files are refused: in a folder that others can write to, another user may have created
/// them. The path is never resolved here, because the system protects only links that it follows itself.
///
/// `apus send` uses this type instead of the library's downloads, which do not write to special files and expect a
/// response with a complete file. `apus send` supports any method and prints rejections.
final class OutputFile: Sendable {
  private struct Open {
    var descriptor: Int32
    /// The path of the temporary file; `nil` if the file is written to directly.
    var part: String?
  }

  private let path: String
  private let open: Mutex<Open?>
  /// Writes to the file.
  let writer: DescriptorWriter

  /// Opens the file on a thread that may block: a named pipe opens when it has a reader.
  ///
  /// - Throws: ``OutputError``; `CancellationError` immediately when the task is cancelled.
  static func opened(_ path: String) async throws -> OutputFile {
    try await Blocking("open").runUnlessCancelled {
      Result { () throws(OutputError) in try OutputFile(path) }
    }.get()
  }

  /// Opens the file before the request is sent, so that errors are known early.
  ///
  /// - Parameters:
  ///   - path: the path of the file.
  ///   - random: returns the unpredictable part of the temporary name.
  /// - Throws: ``OutputError``
  init(_ path: String, random: () -> UInt32 = { .random(in: 0 ... .max) }) throws(OutputError) {
    guard !path.isEmpty else { throw OutputError(place: "a file without a name", number: ENOENT) }
    var facts = stat()
    let exists = lstat(path, &facts) == 0
    let isLink = exists && facts.st_mode & S_IFMT == S_IFLNK
    let kind = try isLink ? Self.kind(ofLink: path) : facts.st_mode & S_IFMT
    if exists ? kind == S_IFDIR : path.utf8.last == UInt8(ascii: "/") { throw OutputError(place: path, number: EISDIR) }
    if exists, access(path, W_OK) != 0 { throw OutputError(place: path, number: errno) }
    // Another user must not choose who can read the new file.
    let ownMode = exists && facts.st_uid == geteuid() ? facts.st_mode & 0o777 : nil
    let file: Open
    if exists, kind != S_IFREG {
      // Only with O_CREAT does the system refuse another user's pipe in a folder such as /tmp.
      file = Open(descriptor: try Self.special(path, isLink ? 0 : O_CREAT | O_NOFOLLOW))
    } else {
      file = Self.part(of: path, mode: ownMode ?? 0o666, random)
    }
    guard file.descriptor >= 0 else { throw OutputError(place: path, number: errno) }
    if let ownMode, file.part != nil { fchmod(file.descriptor, ownMode) }
    self.path = path
    open = Mutex(file)
    writer = DescriptorWriter(file.descriptor, place: path)
  }

  /// Renames the temporary file.
  ///
  /// - Throws: ``OutputError``
  func commit() throws(OutputError) {
    guard let file = take() else { return }
    let failure = close(file.descriptor) == 0 ? 0 : errno
    guard let part = file.part else {
      if failure != 0 { throw OutputError(place: path, number: failure) }
      return
    }
    guard failure == 0, rename(part, path) == 0 else {
      let number = failure == 0 ? errno : failure
      unlink(part)
      throw OutputError(place: path, number: number)
    }
  }

  /// Removes the temporary file; a previous file stays unchanged.
  func discard() {
    guard let file = take() else { return }
    close(file.descriptor)
    if let part = file.part { unlink(part) }
  }

  private func take() -> Open? {
    open.withLock { open in
      defer { open = nil }
      return open
    }
  }

  /// Returns the kind of the file that a link leads to, such as `/dev/stdout` or the end of a shell's pipe.
  ///
  /// - Throws: ``OutputError`` if it is a regular file or missing.
  private static func kind(ofLink path: String) throws(OutputError) -> mode_t {
    var facts = stat()
    let kind = stat(path, &facts) == 0 ? facts.st_mode & S_IFMT : S_IFREG
    guard kind != S_IFREG else {
      throw OutputError(place: path, number: ELOOP, reason: "it is a link; use the name of the file itself")
    }
    return kind
  }

  /// Opens a pipe or a device.
  ///
  /// - Returns: the descriptor; below 0, with `errno` set, on failure.
  /// - Throws: ``OutputError`` if the path has become that of a regular file.
  private static func special(_ path: String, _ flags: Int32) throws(OutputError) -> Int32 {
    let descriptor = Descriptor.open(path, O_WRONLY | O_NOCTTY | flags, mode: 0o600)
    guard descriptor >= 0 else { return descriptor }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT != S_IFREG else {
      close(descriptor)
      throw OutputError(place: path, number: EEXIST)
    }
    return descriptor
  }

  /// Creates a temporary file in the folder of a path; never opens an existing file or link.
  private static func part(of path: String, mode: mode_t, _ random: () -> UInt32) -> Open {
    let mark = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { path.utf8.index(after: $0) } ?? path.startIndex
    var file = Open(descriptor: -1)
    for _ in 0..<100 {
      let digits = String(random(), radix: 16)
      let part = "\(path[..<mark]).\(path[mark...]).\(String(repeating: "0", count: 8 - digits.count))\(digits).part"
      file = Open(descriptor: Descriptor.open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: mode), part: part)
      if file.descriptor >= 0 || errno != EEXIST { break }
    }
    return file
  }

  deinit {
    discard()
  }
}
