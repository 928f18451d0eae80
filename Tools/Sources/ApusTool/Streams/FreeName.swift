import ApusTransfers
import Foundation

/// Functions that select file names that are not taken.
enum FreeName {
  /// Returns the path of a file that does not exist, in the working directory.
  ///
  /// - Throws: ``OutputError`` if all names are taken.
  static func path(_ name: FileName) throws(OutputError) -> String {
    guard let free = name.free(where: { isTaken($0.description) }) else {
      throw OutputError(place: name.description, number: EEXIST)
    }
    return free.description
  }

  /// Renames a file to a name in the working directory, or to the first of its numbered names that is free. Never
  /// replaces a file.
  ///
  /// - Returns: the new path; `nil` if the file could not be renamed.
  static func rename(_ path: String, to name: FileName) -> String? {
    name.free { !take($0.description, for: path) }?.description
  }

  /// Renames a file unless the new name is taken. Returns whether it was renamed.
  private static func take(_ name: String, for path: String) -> Bool {
    if link(path, name) == 0 {
      unlink(path)
      return true
    }
    guard errno != EEXIST, !isTaken(name) else { return false }
    // The file system has no hard links. Another program may create the file between the two calls.
    return Foundation.rename(path, name) == 0
  }

  private static func isTaken(_ path: String) -> Bool {
    var facts = stat()
    return lstat(path, &facts) == 0
  }
}
