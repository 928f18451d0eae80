#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A certificate with its private key, shown to servers that ask who the client is; prints as `██`.
public struct ClientIdentity: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The formats an identity comes in.
  public enum Form: Sendable {
    /// Certificates and key together (RFC 7292), with what they are encrypted with.
    case pkcs12(Data, passphrase: String)
    /// Certificates, the client's own first, and its key, as text (RFC 7468). The key is not encrypted.
    case pem(certificates: Data, key: Data)
  }

  /// Certificate and key.
  public let form: Form

  /// Makes an identity of the PKCS #12 format (RFC 7292); it is opened when it is first used.
  ///
  /// - Parameters:
  ///   - pkcs12: certificate and key.
  ///   - passphrase: what they are encrypted with.
  public init(pkcs12: Data, passphrase: String) {
    form = .pkcs12(pkcs12, passphrase: passphrase)
  }

  /// Makes an identity of PEM text (RFC 7468); it is read when it is first used.
  ///
  /// - Parameters:
  ///   - certificates: the client's own first, then those that lead to an authority.
  ///   - key: the private key, not encrypted.
  public init(certificates: Data, key: Data) {
    form = .pem(certificates: certificates, key: key)
  }

  /// `██`
  public var description: String { Redaction.mask }
  /// `██`
  public var debugDescription: String { description }
  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
