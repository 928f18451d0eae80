#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension Folder {
  /// Refuses a folder that belongs to another user, or that other users can list or write to.
  package func checkIsPrivate() throws(FileError) {
    try descriptor.check(S_IFDIR, isPrivate: true)
  }

  /// Opens a folder. If the folder is missing, creates it and its missing parents with mode 700; when this returns, new
  /// folders are on the disk.
  ///
  /// The permissions of an existing folder are not checked: see ``checkIsPrivate()``.
  package static func made(_ path: String) throws(FileError) -> Folder {
    if let folder = try existing(path) { return folder }
    try make(path)
    return try Folder(path)
  }

  private static func make(_ path: String) throws(FileError) {
    // If the path ended with a slash, its parent's path would name the same folder.
    let path = path.utf8.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    let place = FilePath(path)
    do throws(FileError) {
      try makeLast(place)
    } catch {
      guard error.number == ENOENT, place.folder != path else { throw error }
      try make(place.folder)
      try makeLast(place)
    }
  }

  private static func makeLast(_ place: FilePath) throws(FileError) {
    do throws(FileError) {
      try systemCall("made", place.name) { mkdir(place.path, 0o700) }
    } catch {
      // Another process has created the folder meanwhile.
      if error.number != EEXIST { throw error }
    }
    try syncParent(of: place)
  }

  /// Flushes the parent folder. Otherwise a new folder would not survive a power failure.
  private static func syncParent(of place: FilePath) throws(FileError) {
    let parent: Folder
    do throws(FileError) {
      parent = try Folder(place.folder)
    } catch {
      // A folder that cannot be read, or that a sandbox protects, may still be writable.
      if error.number == EACCES || error.number == EPERM { return }
      throw error
    }
    try parent.syncIfWritable()
  }
}
