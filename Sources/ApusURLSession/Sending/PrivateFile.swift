import Foundation

/// Files that no other user can read at any moment.
enum PrivateFile {
  /// Creates a file for writing. Returns `nil` if that fails, for example because a file or a link has the name.
  ///
  /// The permissions are part of the system call that creates the file: `FileManager` sets them afterwards.
  static func create(at url: URL) -> FileHandle? {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    while true {
      let descriptor = open(url.path, flags, 0o600)
      if descriptor >= 0 { return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true) }
      guard errno == EINTR else { return nil }
    }
  }
}
