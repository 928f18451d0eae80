#if Credentials
  extension Folder {
    /// Where the replacing of a file has come to.
    enum Step: CaseIterable, Sendable {
      /// The new file is there, empty, beside the old one.
      case made
      /// It is written and on the disk.
      case written
      /// It has the place of the old one.
      case replaced
    }

    /// The name of a new file until it is in its place: one name, since there is one writer at a time.
    static func draft(of file: String) -> String { file + ".new" }

    /// Replaces a file by another in one step: at every moment the old one is there or the new one is, complete.
    ///
    /// Only for who holds the file's lock: a draft that is there already was left behind by a process that is dead.
    ///
    /// - Parameter reached: told of each step; what it throws ends the work there, as a failure of the disk would.
    func replace(_ file: String, by bytes: [UInt8], _ reached: (Step) throws -> Void) throws -> Content {
      let draft = Self.draft(of: file)
      remove(draft)
      let made = try make(draft)
      do {
        try reached(.made)
        try made.keep(bytes, draft)
        try reached(.written)
        try rename(draft, to: file)
      } catch {
        remove(draft)
        throw error
      }
      try reached(.replaced)
      try settle()
      return Content(bytes: bytes, identity: FileIdentity(try made.status(file)), descriptor: made)
    }
  }
#endif
