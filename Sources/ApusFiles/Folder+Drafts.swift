#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension Folder {
  /// Creates or replaces a file atomically, without a lock: several processes may do this at the same time, and the file
  /// is always complete. When this returns, the new file is on the disk.
  ///
  /// The new file has a random name until it replaces the old one. A process that dies may leave it behind: see
  /// ``removeDrafts(of:)``.
  ///
  /// - Parameters:
  ///   - isNew: whether the file must not exist. Default: `false`, an existing file is replaced.
  ///   - reached: called at each step. An error ends the replacement at that step, like a failure of the disk.
  /// - Returns: whether the file was written. `false`: it exists, and `isNew` is `true`.
  /// - Throws: ``FileError``; the error of `reached`.
  package func publish(
    _ file: String, _ bytes: [UInt8], isNew: Bool = false, _ reached: (Step) throws -> Void = { _ in }
  ) throws -> Bool {
    // A draft that is not locked yet looks like that of a dead process, and another process may remove it. That is so
    // rare that a few rounds suffice.
    for _ in 0..<16 {
      if let isWritten = try publishOnce(file, bytes, isNew: isNew, reached) { return isWritten }
    }
    throw FileError(.system(EAGAIN), "replaced", file)
  }

  /// Returns `nil` if another process has removed the draft.
  private func publishOnce(
    _ file: String, _ bytes: [UInt8], isNew: Bool, _ reached: (Step) throws -> Void
  ) throws -> Bool? {
    let draft = Self.draftPrefix(of: file) + String(UInt64.random(in: .min ... .max), radix: 16)
    guard let made = try make(draft) else { return nil }
    defer { made.unlock() }
    do {
      // The process's umask may have removed permissions, and the folder's default permissions may have added some.
      try made.setMode(0o600)
      _ = try? made.lock()
      try reached(.made)
      try made.write(bytes)
      try made.sync()
      try reached(.written)
      if isNew {
        guard try renameExclusively(draft, to: file) else {
          remove(draft)
          return false
        }
      } else {
        try rename(draft, to: file)
      }
    } catch {
      remove(draft)
      if let error = error as? FileError, error.number == ENOENT { return nil }
      throw error
    }
    try reached(.replaced)
    try sync()
    return true
  }

  /// Removes the drafts of processes that died while they created or replaced a file. Other processes may be writing.
  package func removeDrafts(of file: String) {
    for draft in (try? names) ?? [] where Self.isDraft(draft, of: file) {
      // A process that is still writing has the lock.
      guard let opened = try? existing(draft, for: .reading, isPrivate: false), (try? opened.lock()) == true else {
        continue
      }
      remove(draft)
    }
  }

  private static func draftPrefix(of file: String) -> String { ".\(file).draft-" }

  private static func isDraft(_ name: String, of file: String) -> Bool {
    let prefix = draftPrefix(of: file)
    guard name.hasPrefix(prefix) else { return false }
    let number = name.dropFirst(prefix.count)
    return !number.isEmpty && number.allSatisfy(\.isHexDigit)
  }
}
