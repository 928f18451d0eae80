#if os(Linux)
public import ApusCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The reason why credentials could not be read from a keyring or written to it. It contains no content of the key.
public struct KeyringCredentialsStoreError: LoggableError, Sendable, Hashable {
  /// The kinds of reasons.
  public enum Reason: Sendable, Hashable {
    /// There is no such keyring, or the session has ended (`ENOKEY`, `EKEYREVOKED`).
    case noKeyring
    /// The process may not read or replace the key (`EACCES`).
    case notPermitted
    /// The keys of the user take too much space (`EDQUOT`).
    case quotaExceeded
    /// The kernel has no keyrings, or a container does not permit their use (`ENOSYS`, `EPERM`).
    case unavailable
    /// The credentials are larger than a key can be: 32,767 bytes.
    case tooLarge
    /// The key was not written by ``KeyringCredentialsStore``, or by a later version.
    case unknownFormat
    /// The name is empty or contains a NUL character.
    case invalidName
    /// Another system call failed with the error number ``KeyringCredentialsStoreError/errno``.
    case system
  }

  /// The kind of reason.
  public let reason: Reason
  /// The name of the key.
  public let key: String
  /// The system's error number (`errno`); `nil`: no system call failed.
  public let errno: Int32?
  /// The operation that failed, as a participle.
  private let step: String

  init(_ reason: Reason, _ key: String, step: String = "", number: Int32? = nil) {
    self.reason = reason
    self.key = key
    self.step = step
    errno = number
  }
}

extension KeyringCredentialsStoreError {
  /// The key's name, what is wrong with it and what to do, for logs and in a call's error.
  public var description: String {
    switch reason {
    case .noKeyring: "the key \(key) cannot be \(step): there is no such keyring, or the login session has ended"
    case .notPermitted: "the key \(key) cannot be \(step): it belongs to another user or session"
    case .quotaExceeded: "the key \(key) cannot be stored: the user's keys exceed their quota; remove some"
    case .unavailable:
      "the key \(key) cannot be \(step): the kernel does not permit keyrings here; store credentials in a file"
    case .tooLarge: "the credentials for the key \(key) are too large"
    case .unknownFormat: "the key \(key) holds no credentials, or those of a later version: update, or remove it"
    case .invalidName: "a key needs a name without NUL characters"
    case .system: "the key \(key) cannot be \(step): \(errno.map { String(cString: strerror($0)) } ?? "no reason")"
    }
  }
}
#endif
