#if Credentials
  #if canImport(Security)
    public import ApusCore
    import Foundation
    import Security

    /// Why the Keychain did not give credentials, or did not keep them.
    public struct KeychainCredentialsError: LoggableError, Sendable, Hashable {
      /// The Keychain's own number for it (`OSStatus`).
      ///
      /// `errSecInteractionNotAllowed`: the device has not been unlocked since it was started.
      /// `errSecMissingEntitlement`: the app may not use the access group. `errSecDecode`: the item was not written by
      /// ``KeychainCredentials``, or by a later version. `errSecDuplicateItem`: others replaced the credentials again and
      /// again meanwhile.
      public let status: Int32

      init(_ status: OSStatus) {
        self.status = status
      }

      /// What the system says of the number.
      public var description: String {
        "the Keychain: \((SecCopyErrorMessageString(status, nil) as String?) ?? "error \(status)")"
      }
    }
  #endif
#endif
