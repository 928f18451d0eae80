import Foundation

/// Files and folders into which nobody but their owner may look.
enum PrivateFile {
  /// Makes a folder, and those above it where they are missing. One that is there already is left as it is, and refused
  /// where others may look into it: somebody may share it for good reason.
  ///
  /// - Throws: ``ProfileError/openFolder(_:)``, ``ProfileError/foreignFolder(_:)``; ``OutputError``
  static func makeFolder(_ path: String) throws {
    if try make(path) { return }
    var facts = stat()
    guard stat(path, &facts) == 0 else { throw OutputError(place: path, number: errno) }
    guard facts.st_mode & S_IFMT == S_IFDIR else { throw OutputError(place: path, number: ENOTDIR) }
    if let error = refusal(of: path, mode: facts.st_mode, owner: facts.st_uid) { throw error }
  }

  /// Why a folder that is there is no place for secrets; `nil`: it is one.
  static func refusal(of path: String, mode: mode_t, owner: uid_t, to user: uid_t = geteuid()) -> ProfileError? {
    if owner != user { return .foreignFolder(path) }
    return mode & 0o077 == 0 ? nil : .openFolder(path)
  }

  /// - Returns: whether it was made; otherwise something of that name is there.
  private static func make(_ path: String) throws(OutputError) -> Bool {
    var number = tryToMake(path)
    if number == ENOENT, let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")), slash != path.startIndex {
      _ = try make(String(path[..<slash]))
      number = tryToMake(path)
    }
    guard number == 0 || number == EEXIST else { throw OutputError(place: path, number: number) }
    return number == 0
  }

  /// - Returns: 0, or the system's number of what went wrong.
  private static func tryToMake(_ path: String) -> Int32 {
    // The mask of the process may have taken bits away.
    mkdir(path, 0o700) == 0 && chmod(path, 0o700) == 0 ? 0 : errno
  }

  /// Returns when the names of what is in a folder are on the disk.
  ///
  /// - Throws: ``OutputError``
  static func settle(_ path: String) throws(OutputError) {
    let descriptor = Descriptor.open(path, O_RDONLY | O_DIRECTORY)
    guard descriptor >= 0 else { throw OutputError(place: path, number: errno) }
    let number = settle(descriptor)
    close(descriptor)
    guard number == 0 else { throw OutputError(place: path, number: number) }
  }

  /// - Returns: 0, or the system's number of what went wrong.
  private static func settle(_ descriptor: Int32) -> Int32 {
    #if canImport(Darwin)
      // There the plain call leaves it in the disk's own memory.
      if fcntl(descriptor, F_FULLFSYNC) != -1 { return 0 }
    #endif
    return fsync(descriptor) == 0 ? 0 : errno
  }

  /// Writes a file that is there whole or not at all. Two at once must not write the same.
  ///
  /// - Throws: ``OutputError``; what was there is still there.
  static func write(_ bytes: Data, to path: String) throws(OutputError) {
    let part = path + ".part"
    // From somebody who was interrupted.
    try remove(part)
    let descriptor = Descriptor.open(part, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode: 0o600)
    guard descriptor >= 0 else { throw OutputError(place: path, number: errno) }
    var failure: OutputError?
    if case .failure(let error) = Descriptor.write(bytes, to: descriptor, place: path) { failure = error }
    // On the disk before it has the name, lest a name without its content outlive a power cut.
    if failure == nil, case let number = settle(descriptor), number != 0 {
      failure = OutputError(place: path, number: number)
    }
    close(descriptor)
    if failure == nil, rename(part, path) != 0 { failure = OutputError(place: path, number: errno) }
    guard let failure else { return }
    unlink(part)
    throw failure
  }

  /// Removes a file; one that is not there is removed already.
  ///
  /// - Throws: ``OutputError``
  static func remove(_ path: String) throws(OutputError) {
    guard unlink(path) == 0 || errno == ENOENT else { throw OutputError(place: path, number: errno) }
  }

  /// Removes a folder and the files in it; one that is not there is removed already.
  ///
  /// - Throws: ``OutputError``
  static func removeFolder(_ path: String) throws(OutputError) {
    for file in (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] { try remove("\(path)/\(file)") }
    guard rmdir(path) == 0 || errno == ENOENT else { throw OutputError(place: path, number: errno) }
  }

  /// The names of what is in a folder, of none where it is not there.
  ///
  /// - Throws: ``InputError``
  static func names(in path: String) throws(InputError) -> [String] {
    guard access(path, R_OK | X_OK) == 0 else {
      let number = errno
      if number == ENOENT { return [] }
      throw InputError(place: path, number: number)
    }
    do {
      return try FileManager.default.contentsOfDirectory(atPath: path)
    } catch {
      throw InputError(place: path, reason: "it is no folder")
    }
  }

  /// Whether there is something of that name.
  static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }
}
