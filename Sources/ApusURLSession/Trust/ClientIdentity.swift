#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A certificate with its private key, shown to servers that ask who the client is; prints as `██`.
public struct ClientIdentity: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Certificate and key in the PKCS #12 format (RFC 7292).
  public let pkcs12: Data
  /// What the private key is encrypted with.
  public let passphrase: String

  /// Makes an identity; it is opened when a server first asks for it.
  public init(pkcs12: Data, passphrase: String) {
    self.pkcs12 = pkcs12
    self.passphrase = passphrase
  }

  /// `██`
  public var description: String { "██" }
  /// `██`
  public var debugDescription: String { description }
  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
