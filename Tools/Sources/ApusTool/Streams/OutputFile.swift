import Foundation
import Synchronization

/// A file that is there whole or not at all.
///
/// What is written goes into a file beside it, `.NAME.PID.part`, which takes the name at the end. What is no regular
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

  /// Opens it, so that what cannot be written is known before anything is sent.
  ///
  /// - Throws: ``OutputError``
  init(_ path: String) throws(OutputError) {
    let target = Self.resolved(path)
    var facts = stat()
    let exists = stat(target, &facts) == 0
    let kind = facts.st_mode & S_IFMT
    if exists, kind == S_IFDIR { throw OutputError(place: path, number: EISDIR) }
    if exists, access(target, W_OK) != 0 { throw OutputError(place: path, number: errno) }
    let part = exists && kind != S_IFREG ? nil : Self.part(of: target)
    let flags = O_WRONLY | O_CLOEXEC | (part == nil ? 0 : O_CREAT | O_TRUNC)
    let descriptor = Foundation.open(part ?? target, flags, 0o666)
    guard descriptor >= 0 else { throw OutputError(place: path, number: errno) }
    if exists, part != nil { fchmod(descriptor, facts.st_mode & 0o7777) }
    self.path = target
    open = Mutex(Open(descriptor: descriptor, part: part))
    writer = DescriptorWriter(descriptor, place: path)
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

  private static func part(of path: String) -> String {
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return "\(path.dropLast(name.count)).\(name).\(getpid()).part"
  }

  deinit {
    giveUp()
  }
}
