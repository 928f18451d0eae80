import ApusFiles

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

extension TransferError {
  init(_ error: FileError) {
    switch error.cause {
    case .notAFile, .foreignOwner, .accessibleToOthers: self.init(.notAFile)
    case .tooLarge: self = .unreadable
    // A folder has the name of a file that is about to be written.
    case .system(EEXIST): self.init(.notAFile)
    // Other processes keep creating and removing the file.
    case .system(EAGAIN): self.init(.inUse)
    case .system(let number): self = .system(number)
    }
  }

  /// Performs an operation, and converts its file errors.
  static func converting<Value>(_ work: () throws -> Value) throws(TransferError) -> Value {
    do {
      return try work()
    } catch let error as TransferError {
      throw error
    } catch let error as FileError {
      throw TransferError(error)
    } catch {
      throw TransferError(.system(EIO), underlying: error)
    }
  }
}

extension Descriptor {
  /// Opens a file whose content is sent.
  ///
  /// - Throws: ``TransferError``, for example with the reason `fileUnreadable`.
  static func content(_ path: String) throws(TransferError) -> Descriptor {
    do throws(FileError) {
      return try .reading(path)
    } catch {
      throw error.number.map { .reading($0) } ?? TransferError(error)
    }
  }
}
