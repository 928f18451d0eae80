#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The state of a file at one moment: a changed or replaced file has another version.
package struct FileVersion: Hashable, Sendable, Codable {
  // Do not rename these properties: they are part of stored records.
  package let size: Int64
  let inode: UInt64
  let modifiedSeconds: Int64
  let modifiedNanoseconds: Int64

  package init(of file: Descriptor) throws(FileError) {
    self.init(try file.status())
  }

  init(_ status: stat) {
    (size, inode) = (Int64(status.st_size), UInt64(truncatingIfNeeded: status.st_ino))
    #if canImport(Darwin)
    let modified = status.st_mtimespec
    #else
    let modified = status.st_mtim
    #endif
    (modifiedSeconds, modifiedNanoseconds) = (Int64(modified.tv_sec), Int64(modified.tv_nsec))
  }
}

/// The version of a file with its device, owner and permissions.
///
/// Once the file is closed, the system may reuse the inode number. Two files then have different identities only if their
/// sizes or times differ.
package struct FileIdentity: Hashable, Sendable {
  private let version: FileVersion
  private let device: UInt64
  private let owner: UInt32
  private let mode: UInt32

  init(_ status: stat) {
    version = FileVersion(status)
    device = UInt64(truncatingIfNeeded: status.st_dev)
    owner = UInt32(status.st_uid)
    mode = UInt32(status.st_mode)
  }

  package var size: Int64 { version.size }
}
