#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The failure of an operation on a file or folder. The error contains no file content.
package struct FileError: Error, Hashable, Sendable {
  /// The kinds of failures.
  package enum Cause: Hashable, Sendable {
    /// A system call failed with this error number (`errno`).
    case system(Int32)
    /// A symbolic link, a folder, a pipe, a socket or a device is in place of a file, or a file in place of a folder.
    case notAFile
    /// The file belongs to another user.
    case foreignOwner
    /// Other users can access the file or folder.
    case accessibleToOthers
    /// The file is larger than the limit.
    case tooLarge
  }

  package let cause: Cause
  /// The operation that failed, as a participle.
  package let operation: String
  /// The last component of the path.
  package let name: String

  package init(_ cause: Cause, _ operation: String, _ name: String) {
    (self.cause, self.operation, self.name) = (cause, operation, name)
  }

  /// The error number of the system; `nil` if no system call failed.
  package var number: Int32? { if case .system(let number) = cause { number } else { nil } }
}

/// Makes a system call, and repeats it if a signal interrupted it.
///
/// - Parameters:
///   - operation: the operation, as a participle.
///   - name: the last component of the path.
///   - call: returns a negative number if it fails.
@discardableResult
func systemCall<Number: SignedInteger>(
  _ operation: String, _ name: String, _ call: () -> Number
) throws(FileError) -> Number {
  while true {
    let result = call()
    if result >= 0 { return result }
    let number = errno
    if number != EINTR { throw FileError(.system(number), operation, name) }
  }
}
