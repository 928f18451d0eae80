import Foundation
import Synchronization

/// A file that is written atomically.
///
/// Content is written to `.NAME.RANDOM.part` in the same folder, which is renamed at the end. Pipes and devices are
/// written to directly. `apus send` uses it in place of the library's downloads, which replace neither links nor
/// special files and expect a response with a complete file, whereas `send` takes any method and prints rejections.
final class OutputFile: Sendable {
  private struct Open {
    var descriptor: Int32
    /// The path of the temporary file; `nil` when written to directly.
    var part: String?
  }

  private let path: String
  private let open: Mutex<Open?>
  /// Writes to the file.
  let writer: DescriptorWriter

  /// Opens the file on a thread that may block: a named pipe opens when there is a reader.
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
    let target = Self.resolved(path)
    var facts = stat()
    let exists = stat(target, &facts) == 0
    let kind = facts.st_mode & S_IFMT
    if exists ? kind == S_IFDIR : path.utf8.last == UInt8(ascii: "/") { throw OutputError(place: path, number: EISDIR) }
    if exists, access(target, W_OK) != 0 { throw OutputError(place: path, number: errno) }
    let file: Open
    if exists, kind != S_IFREG {
      file = Open(descriptor: Descriptor.open(target, O_WRONLY))
    } else {
      file = Self.part(of: target, mode: exists ? facts.st_mode & 0o777 : 0o666, random)
    }
    guard file.descriptor >= 0 else { throw OutputError(place: path, number: errno) }
    if exists, file.part != nil { fchmod(file.descriptor, facts.st_mode & 0o7777) }
    self.path = target
    open = Mutex(file)
    writer = DescriptorWriter(file.descriptor, place: path)
  }

  /// Renames the temporary file.
  ///
  /// - Throws: ``OutputError``
  func keep() throws(OutputError) {
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
  func giveUp() {
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

  /// Resolves symbolic links.
  private static func resolved(_ path: String) -> String {
    guard let text = realpath(path, nil) else { return path }
    defer { free(text) }
    return String(cString: text)
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
    giveUp()
  }
}
