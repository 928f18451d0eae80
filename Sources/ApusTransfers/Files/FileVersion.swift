#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A file as it was at one moment: a changed or replaced file has another version.
package struct FileVersion: Hashable, Sendable, Codable {
  let size: Int64
  let inode: UInt64
  let modifiedSeconds: Int64
  let modifiedNanoseconds: Int64

  init(of file: Descriptor) throws(TransferError) {
    let status = try file.status()
    (size, inode) = (Int64(status.st_size), UInt64(status.st_ino))
    #if canImport(Darwin)
    let modified = status.st_mtimespec
    #else
    let modified = status.st_mtim
    #endif
    (modifiedSeconds, modifiedNanoseconds) = (Int64(modified.tv_sec), Int64(modified.tv_nsec))
  }
}
