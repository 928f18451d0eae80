#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension TransferError {
  /// The error of written bytes that cannot be read back.
  static let unreadable = TransferError(.system(EIO))

  /// Returns the error of a failure to open a file for reading.
  static func reading(_ number: Int32) -> TransferError {
    switch number {
    case ENOENT, ENOTDIR: TransferError(.fileMissing)
    case EACCES, EPERM: TransferError(.fileUnreadable)
    default: .system(number)
    }
  }

  /// Returns the error of a failed system call.
  static func system(_ number: Int32) -> TransferError {
    switch number {
    case ENOSPC, EDQUOT: TransferError(.diskFull)
    case EACCES, EPERM: TransferError(.permissionDenied)
    case EROFS: TransferError(.readOnlyFileSystem)
    case EISDIR: TransferError(.isFolder)
    case ENOENT, ENOTDIR: TransferError(.folderMissing)
    case ELOOP, ENXIO: TransferError(.notAFile)
    case ENAMETOOLONG: TransferError(.invalidPath)
    default: TransferError(.system(number))
    }
  }
}
