extension Folder {
  /// The steps of a replacement, at which tests inject failures.
  package enum Step: CaseIterable, Sendable {
    /// The new file exists, empty, beside the old file.
    case made
    /// The new file is written and on the disk.
    case written
    /// The new file has replaced the old file.
    case replaced
  }

  /// Returns the name of the new file before the replacement. One name suffices, because only one process writes at a
  /// time.
  package static func draft(of file: String) -> String { file + ".new" }

  /// Replaces a file atomically: at any moment, the name belongs to the complete old file or the complete new file.
  /// When this returns, the new file is on the disk.
  ///
  /// The caller has a lock, so an existing draft was left behind by a process that died.
  ///
  /// - Parameter reached: called at each step. An error ends the replacement at that step, like a failure of the disk.
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
