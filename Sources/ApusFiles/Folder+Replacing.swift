extension Folder {
  /// The steps of a replacement, at which tests let it fail.
  package enum Step: CaseIterable, Sendable {
    /// The new file exists, empty, beside the old one.
    case made
    /// The new file is written and on the disk.
    case written
    /// The new file has replaced the old one.
    case replaced
  }

  /// The name of a new file before the replacement. One name is enough, since there is one writer at a time.
  package static func draft(of file: String) -> String { file + ".new" }

  /// Replaces a file atomically: at any moment, either the old or the new file exists, complete. When this returns, the
  /// new file is on the disk.
  ///
  /// The caller holds a lock, so an existing draft was left behind by a process that died.
  ///
  /// - Parameter reached: called at each step; an error ends the replacement there, as a failure of the disk would.
  /// - Returns: the new file.
  /// - Throws: ``FileError``; the error of `reached`.
  @discardableResult
  package func replace(
    _ file: String, by bytes: [UInt8], _ reached: (Step) throws -> Void = { _ in }
  ) throws -> Descriptor {
    let draft = Self.draft(of: file)
    remove(draft)
    let made = try make(draft, with: bytes) { try reached(.made) }
    do {
      try reached(.written)
      try rename(draft, to: file)
    } catch {
      remove(draft)
      throw error
    }
    try reached(.replaced)
    try sync()
    return made
  }
}
