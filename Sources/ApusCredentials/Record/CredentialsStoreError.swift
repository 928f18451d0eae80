public import ApusCore

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The reason why a store could not read or replace credentials. The error contains no stored content.
public struct CredentialsStoreError: LoggableError, Sendable, Hashable {
  /// The kinds of reasons, by the app's possible reaction. The description is more precise.
  #if hasAttribute(nonexhaustive)
  @nonexhaustive
  #endif
  public enum Reason: Sendable, Hashable {
    /// The system does not grant access at the moment: a system call failed, the disk is full, the keyring does not
    /// exist, a container does not permit keyrings, or the device has not been unlocked since it started.
    case unavailable
    /// Other users could access the credentials: the permissions of the file or its folder are too wide, it belongs to
    /// another user, or the path leads to a symbolic link or another object that is not a file.
    case insecure
    /// The stored credentials cannot be used: the key is missing, malformed or wrong, the content is damaged, or a
    /// later version or another program has written it. Restore the key, or remove the credentials and sign in again.
    case unreadable
    /// The credentials are too large to be stored.
    case tooLarge
    /// The store was created with an invalid key name, or with a key file whose path is needed for the credentials.
    case misconfigured
  }

  /// The precise reasons.
  enum Problem: Sendable, Hashable {
    /// A system call failed with the error number `errno`.
    case system
    // Files.
    case notAFile
    case foreignOwner
    case accessibleToOthers
    case fileTooLarge
    case unknownFormat
    /// The key is wrong, or the file is damaged: AES-GCM does not distinguish these.
    case wrongKeyOrDamaged
    /// The file is sealed with a passphrase and a key file was passed, or the reverse.
    case keyKindMismatch
    case keyMissing
    case malformedKey
    /// The key file has the path of the credentials file or of a related file.
    case keyPathCollision
    /// The credentials are larger than the store can read.
    case tooLarge
    // Keyrings.
    /// The keyring does not exist, or the session has ended (`ENOKEY`, `EKEYREVOKED`).
    case noKeyring
    /// The process may not read or replace the key (`EACCES`).
    case notPermitted
    /// The keys of the user take too much space (`EDQUOT`).
    case quotaExceeded
    /// The kernel has no keyrings, or a container does not permit their use (`ENOSYS`, `EPERM`).
    case noKeyrings
    case unknownKeyFormat
    /// The name is empty or contains a NUL character.
    case invalidName
    // The Keychain.
    case keychain
    case unknownItemFormat
  }

  let problem: Problem
  /// The system's error number; `nil` if no system call failed.
  let errno: Int32?
  /// The last component of a path, or the name of a key.
  private let name: String
  /// The operation that failed, as a participle; for the Keychain, its message.
  private let step: String

  init(_ problem: Problem, _ name: String, step: String = "", errno: Int32? = nil) {
    (self.problem, self.name, self.step, self.errno) = (problem, name, step, errno)
  }

  /// The kind of reason.
  public var reason: Reason {
    switch problem {
    case .system, .noKeyring, .notPermitted, .quotaExceeded, .noKeyrings, .keychain: .unavailable
    case .notAFile, .foreignOwner, .accessibleToOthers: .insecure
    case .fileTooLarge, .unknownFormat, .wrongKeyOrDamaged, .keyKindMismatch, .keyMissing, .malformedKey,
      .unknownKeyFormat, .unknownItemFormat:
      .unreadable
    case .tooLarge: .tooLarge
    case .keyPathCollision, .invalidName: .misconfigured
    }
  }
}

extension CredentialsStoreError {
  /// The name of the file or key, the problem and the remedy, for logs and in a call's error.
  public var description: String {
    switch problem {
    case .system: "\(name) cannot be \(step): \(errno.map { String(cString: strerror($0)) } ?? "no reason")"
    case .notAFile: "\(name) is not a file: remove it"
    case .foreignOwner: "\(name) belongs to another user: run as its owner, or remove it"
    case .accessibleToOthers:
      "\(name) is accessible to others: make it private, a folder with chmod 700 and a file with chmod 600"
    case .fileTooLarge: "\(name) is too large for a credentials file: remove it"
    case .unknownFormat: "\(name) is not a credentials file, or one of a later version: update, or remove it"
    case .wrongKeyOrDamaged: "\(name) cannot be read: the key does not fit or the file is damaged"
    case .keyKindMismatch: "\(name) is sealed with another kind of key: pass the passphrase, or the key file"
    case .keyMissing: "\(name), the key of the credentials, is missing: restore it, or sign in again"
    case .malformedKey: "\(name) does not hold a key: restore it, or remove it and sign in again"
    case .keyPathCollision: "\(name) cannot be the key file: the credentials use that name themselves"
    case .tooLarge: "the credentials for \(name) are too large"
    case .noKeyring: "\(name) cannot be \(step): there is no such keyring, or the login session has ended"
    case .notPermitted: "\(name) cannot be \(step): it belongs to another user or session"
    case .quotaExceeded: "\(name) cannot be stored: the user's keys exceed their quota; remove some"
    case .noKeyrings: "\(name) cannot be \(step): the kernel does not permit keyrings here; store credentials in a file"
    case .unknownKeyFormat: "\(name) holds no credentials, or those of a later version: update, or remove it"
    case .invalidName: "a key needs a name without NUL characters"
    case .keychain, .unknownItemFormat: "the Keychain: \(step)"
    }
  }
}
