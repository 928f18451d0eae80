#if Credentials
  #if canImport(Darwin)
    import Darwin
  #elseif canImport(Glibc)
    import Glibc
  #elseif canImport(Musl)
    import Musl
  #endif

  /// Where a file is: its folder, and its name there.
  struct FilePlace: Sendable, Hashable {
    /// What is in a place, without opening it.
    enum Look: Hashable {
      case file(FileIdentity)
      case nothing
      /// The system does not tell.
      case unknown
    }

    let path: String
    let folder: String
    let name: String

    /// The name of the file that stands for the lock of who writes.
    var lockName: String { name + ".lock" }
    /// The name of the file that stands for the lease of who refreshes.
    var leaseName: String { name + ".lease" }
    /// The names of all files that credentials in this place need.
    var names: [String] { [name, Folder.draft(of: name), lockName, leaseName] }

    init(_ path: String) {
      self.path = path
      if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
        folder = slash == path.startIndex ? "/" : String(path[..<slash])
        name = String(path[path.utf8.index(after: slash)...])
      } else {
        folder = "."
        name = path
      }
    }

    /// Looks at the file with one call of the system.
    func look() -> Look {
      var status = stat()
      if lstat(path, &status) == 0 { return .file(FileIdentity(status)) }
      return errno == ENOENT ? .nothing : .unknown
    }

    /// Opens the folder; `nil`: there is none.
    func openFolder() throws(FileCredentialsError) -> Folder? {
      guard !name.isEmpty, name != ".", name != "..", !path.utf8.contains(0) else {
        throw FileCredentialsError(.notAFile, name)
      }
      do throws(FileCredentialsError) {
        return try Folder(folder)
      } catch {
        guard error.number == ENOENT else { throw error }
        return nil
      }
    }

    /// Opens the folder, and makes it first where it is missing, with the mode 700.
    func makeFolder() throws(FileCredentialsError) -> Folder {
      if let folder = try openFolder() { return folder }
      try Self.make(folder)
      return try Folder(folder)
    }

    /// Makes a folder and those above it; they are on the disk when it returns.
    private static func make(_ path: String) throws(FileCredentialsError) {
      let place = FilePlace(path)
      func makeLast() throws(FileCredentialsError) {
        do throws(FileCredentialsError) {
          try Descriptor.call("made", place.name) { mkdir(path, 0o700) }
        } catch {
          // Another process was quicker.
          if error.number != EEXIST { throw error }
        }
        try settleParent(of: place)
      }
      do throws(FileCredentialsError) {
        try makeLast()
      } catch {
        guard error.number == ENOENT, place.folder != path else { throw error }
        try make(place.folder)
        try makeLast()
      }
    }
    /// A folder that was made is there after the power has failed once the folder above it is on the disk.
    private static func settleParent(of place: FilePlace) throws(FileCredentialsError) {
      let parent: Folder
      do throws(FileCredentialsError) {
        parent = try Folder(place.folder)
      } catch {
        // Things can be made in a folder that may not be read.
        if error.number == EACCES { return }
        throw error
      }
      try parent.settleWhereItCan()
    }
  }
#endif
