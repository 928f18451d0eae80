import Foundation

/// Files that no other user can read at any time.
enum PrivateFile {
  /// Creates a file for writing. Returns `nil` if that fails, for example because a file or a link has the name.
  ///
  /// The system call that creates the file sets its permissions, whereas `FileManager` sets them afterwards.
  static func create(at url: URL) -> FileHandle? {
    let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
    while true {
      let descriptor = open(url.path, flags, 0o600)
      if descriptor >= 0 { return FileHandle(fileDescriptor: descriptor, closeOnDealloc: true) }
      guard errno == EINTR else { return nil }
    }
  }
}
