public import ApusCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The reason why credentials could not be read from a file or written to it. It contains no content of the file.
public struct FileCredentialsStoreError: LoggableError, Sendable, Hashable {
  /// The kinds of reasons.
  public enum Reason: Sendable, Hashable {
    /// A system call failed with the error number ``FileCredentialsStoreError/errno``.
    case system
    /// The path leads to a symbolic link, a folder or something else that is not a file.
    case notAFile
    /// The file belongs to a user other than that of the process.
    case foreignOwner
    /// The permissions let other users read or write the file, or list the folder.
    case accessibleToOthers
    /// The file is larger than any credentials file.
    case tooLarge
    /// The file was not written by ``FileCredentialsStore``, or by a later version.
    case unknownFormat
    /// The key is wrong or the file is damaged; AES-GCM does not distinguish the two.
    case wrongKeyOrDamaged
    /// The file is sealed with a passphrase and a key file was passed, or the reverse.
    case keyKindMismatch
    /// There is a sealed file, but no key file.
    case keyMissing
    /// The key file does not contain 32 bytes in Base64.
    case malformedKey
    /// The key file has the path of the credentials file or of a file beside it.
    case keyPathCollision
  }

  /// The kind of reason.
  public let reason: Reason
  /// The last component of the path of the file or folder.
  public let file: String
  /// The system's error number (`errno`); `nil`: no system call failed.
  public let errno: Int32?
  /// The operation that failed, as a participle.
  private let step: String

  init(_ reason: Reason, _ file: String) {
    self.init(reason, file, step: "", number: nil)
  }

  private init(_ reason: Reason, _ file: String, step: String, number: Int32?) {
    self.reason = reason
    self.file = file
    self.step = step
    self.errno = number
  }

  /// The failure of a system call.
  static func system(_ number: Int32, _ step: String, _ file: String) -> FileCredentialsStoreError {
    FileCredentialsStoreError(.system, file, step: step, number: number)
  }
}

extension FileCredentialsStoreError {
  /// The file's name, what is wrong with it and what to do, for logs and in a call's error.
  public var description: String {
    switch reason {
    case .system: "\(file) cannot be \(step): \(errno.map { String(cString: strerror($0)) } ?? "no reason")"
    case .notAFile: "\(file) is not a file: remove it"
    case .foreignOwner: "\(file) belongs to another user: run as its owner, or remove it"
    case .accessibleToOthers:
      "\(file) is accessible to others: make it private, a folder with chmod 700 and a file with chmod 600"
    case .tooLarge: "\(file) is too large for a credentials file: remove it"
    case .unknownFormat: "\(file) is not a credentials file, or one of a later version: update, or remove it"
    case .wrongKeyOrDamaged: "\(file) cannot be read: the key does not fit or the file is damaged"
    case .keyKindMismatch: "\(file) is sealed with another kind of key: pass the passphrase, or the key file"
    case .keyMissing: "\(file), the key of the credentials, is missing: restore it, or sign in again"
    case .malformedKey: "\(file) does not hold a key: restore it, or remove it and sign in again"
    case .keyPathCollision: "\(file) cannot be the key file: the credentials use that name themselves"
    }
  }
}
