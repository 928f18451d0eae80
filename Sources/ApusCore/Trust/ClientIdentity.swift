#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A client certificate with its private key, for servers that require mutual TLS. Prints as `██`.
public struct ClientIdentity: Sendable, SelfRedacting {
  /// The format of an identity.
  package enum Format: Sendable {
    /// Certificates and key in one encrypted PKCS #12 file (RFC 7292).
    case pkcs12(Data, passphrase: String)
    /// Certificates, the client's own first, and its unencrypted key as PEM text (RFC 7468).
    case pem(certificates: Data, key: Data)
  }

  /// The certificates and the key.
  package let format: Format

  /// Creates an identity from PKCS #12 data (RFC 7292), which is opened at its first use.
  ///
  /// - Parameters:
  ///   - pkcs12: the certificates and the key.
  ///   - passphrase: the passphrase of the data.
  public init(pkcs12: Data, passphrase: String) {
    format = .pkcs12(pkcs12, passphrase: passphrase)
  }

  /// Creates an identity from PEM text (RFC 7468), which is parsed at its first use.
  ///
  /// - Parameters:
  ///   - certificates: the client's certificate, followed by the intermediate certificates.
  ///   - key: the unencrypted private key.
  public init(certificates: Data, key: Data) {
    format = .pem(certificates: certificates, key: key)
  }

  /// `██`
  public var description: String { Redaction.mask }
}
