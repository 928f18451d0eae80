#if canImport(Security)
public import ApusCore
import Foundation
import Security

/// An error of the Keychain.
public struct KeychainCredentialsStoreError: LoggableError, Sendable, Hashable {
  /// The error's number (`OSStatus`).
  ///
  /// `errSecInteractionNotAllowed`: the device has not been unlocked since it started.
  /// `errSecMissingEntitlement`: the app may not use the access group. `errSecDecode`: the item was not written by
  /// ``KeychainCredentialsStore``, or by a later version. `errSecDuplicateItem`: other processes kept replacing the
  /// credentials.
  public let status: Int32

  init(_ status: OSStatus) {
    self.status = status
  }

  /// The system's message for the number.
  public var description: String {
    "the Keychain: \((SecCopyErrorMessageString(status, nil) as String?) ?? "error \(status)")"
  }
}
#endif
