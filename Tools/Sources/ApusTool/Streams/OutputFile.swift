import Foundation
import Synchronization

/// A file that is there whole or not at all.
///
/// What is written goes into a file beside it, `.NAME.RANDOM.part`, which takes the name at the end. What is no regular
/// file, such as a pipe or a terminal, is written to directly.
final class OutputFile: Sendable {
  private struct Open {
    var descriptor: Int32
    /// What takes the name at the end; `nil` where it is written to directly.
    var part: String?
  }

  private let path: String
  private let open: Mutex<Open?>
  /// Writes into it.
  let writer: DescriptorWriter

  /// Opens it on a thread that may wait: a pipe with a name opens when somebody reads it.
  ///
  /// - Throws: ``OutputError``; `CancellationError` at once when the task is cancelled.
  static func opened(_ path: String) async throws -> OutputFile {
    try await Blocking("open").runUnlessCancelled {
      Result { () throws(OutputError) in try OutputFile(path) }
    }.get()
  }

  /// Opens it, so that what cannot be written is known before anything is sent.
  ///
  /// - Parameters:
  ///   - path: the file's name.
  ///   - random: makes the part of a name that nobody can foresee.
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

  /// Gives it its name.
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

  /// Leaves what was there as it was.
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

  /// The file itself where the path is a link to one.
  private static func resolved(_ path: String) -> String {
    guard let text = realpath(path, nil) else { return path }
    defer { free(text) }
    return String(cString: text)
  }

  /// A new file beside the one of that name: never one that somebody else put there, nor where a link leads.
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
