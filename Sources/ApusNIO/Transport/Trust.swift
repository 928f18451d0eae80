public import ApusCore
import NIOCore
import NIOSSL

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension NIOTransport {
  /// The trusted authorities, pinned keys and the client's identity. Certificates are always verified.
  public struct Trust: Sendable {
    /// The trusted authorities. Default: the authorities that the system trusts.
    public var trustRoots = TrustRoots.system
    /// Certificates of further trusted authorities, as PEM (RFC 7468), any number in each element. Default: none.
    public var additionalTrustRoots: [Data] = []
    /// The keys that hosts must present. A host without pins is verified by its certificate alone. Default: none.
    public var pins: [PinnedHost] = []
    /// The certificate and key for servers that request a client certificate. The transport presents them to every
    /// server that a call or its redirect reaches, so restrict redirects to known hosts where that matters. Default:
    /// none.
    public var clientIdentity: ClientIdentity?
    /// The oldest accepted version of TLS. Default: 1.2.
    public var minimumTLSVersion = TLSVersion.tls12

    /// Creates the default trust: the system's authorities, no client identity.
    public init() {}
  }

  /// A set of trusted authorities.
  public enum TrustRoots: Sendable, Hashable {
    /// The authorities that the system trusts.
    case system
    /// Only the authorities with these certificates, as PEM (RFC 7468).
    case only(Data)
  }

  /// A version of TLS.
  public enum TLSVersion: Sendable, Hashable {
    /// TLS 1.2 (RFC 5246).
    case tls12
    /// TLS 1.3 (RFC 8446).
    case tls13
  }
}

extension NIOTransport.Trust {
  /// Returns the TLS library's configuration, with full verification. Reads certificates and key.
  func configuration() throws -> TLSConfiguration {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.certificateVerification = .fullVerification
    configuration.minimumTLSVersion = minimumTLSVersion == .tls13 ? .tlsv13 : .tlsv12
    // The maximum wait for the server's TLS close notification.
    configuration.shutdownTimeout = .milliseconds(500)
    if case .only(let authorities) = trustRoots {
      configuration.trustRoots = .certificates(try certificates(in: authorities))
    }
    configuration.additionalTrustRoots = try additionalTrustRoots.map { .certificates(try certificates(in: $0)) }
    if let clientIdentity { try configuration.setIdentity(clientIdentity) }
    return configuration
  }
}

private func certificates(in pem: Data) throws -> [NIOSSLCertificate] {
  try NIOSSLCertificate.fromPEMBytes(Array(pem))
}

extension TLSConfiguration {
  fileprivate mutating func setIdentity(_ identity: ClientIdentity) throws {
    switch identity.format {
    case .pkcs12(let data, let passphrase):
      let bundle = try NIOSSLPKCS12Bundle(buffer: Array(data), passphrase: passphrase.utf8)
      certificateChain = bundle.certificateChain.map { .certificate($0) }
      privateKey = .privateKey(bundle.privateKey)
    case .pem(let chain, let key):
      certificateChain = try certificates(in: chain).map { .certificate($0) }
      privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(key), format: .pem))
    }
  }
}
