import ApusCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension FileSlice {
  /// Creates a slice of a whole file. Opening the slice throws if the length of the file has changed.
  init(_ file: ContentFile) {
    self.init(range: 0..<file.length) {
      let descriptor = systemOpen(file.path)
      guard descriptor >= 0 else { throw FileFault.unreadable }
      let owner = DescriptorOwner(descriptor)
      guard let version = FileVersion(descriptor) else { throw FileFault.unreadable }
      guard version.length == file.length else { throw FileFault.changed }
      return OpenSlice(descriptor: descriptor, owner: owner) {
        guard FileVersion(descriptor) == version else { throw FileFault.changed }
      }
    }
  }
}

/// The owner of a file descriptor. Closes the file when it is released.
private final class DescriptorOwner: Sendable {
  private let descriptor: CInt

  init(_ descriptor: CInt) {
    self.descriptor = descriptor
  }

  deinit {
    close(descriptor)
  }
}

/// A file that became unreadable or changed after the request was made.
enum FileFault: Error {
  case unreadable
  case changed
}

/// The length of an open file and the time of its last change.
private struct FileVersion: Equatable {
  let length: Int64
  /// The bytes of the system's `timespec`, which is only compared.
  private let time: [UInt8]

  init?(_ descriptor: CInt) {
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { return nil }
    length = Int64(status.st_size)
    #if canImport(Darwin)
    time = withUnsafeBytes(of: status.st_mtimespec) { Array($0) }
    #else
    time = withUnsafeBytes(of: status.st_mtim) { Array($0) }
    #endif
  }
}

private func systemOpen(_ path: String) -> CInt {
  open(path, O_RDONLY | O_CLOEXEC)
}
