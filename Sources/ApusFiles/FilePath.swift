#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The path of a file, as its folder and its name.
package struct FilePath: Sendable, Hashable {
  /// The status of a path, determined without opening the file.
  package enum Status: Hashable {
    case file(FileIdentity)
    case nothing
    /// The system call failed.
    case unknown
  }

  package let path: String
  package let folder: String
  package let name: String

  package init(_ path: String) {
    self.path = path
    if let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) {
      folder = slash == path.startIndex ? "/" : String(path[..<slash])
      name = String(path[path.utf8.index(after: slash)...])
    } else {
      folder = "."
      name = path
    }
  }

  /// Whether the path can be that of a file: it does not end with a slash and contains no zero byte.
  package var isValid: Bool { !name.isEmpty && name != "." && name != ".." && !path.utf8.contains(0) }

  /// Determines the status with one system call.
  package var status: Status {
    var status = stat()
    if lstat(path, &status) == 0 { return .file(FileIdentity(status)) }
    return errno == ENOENT ? .nothing : .unknown
  }
}
