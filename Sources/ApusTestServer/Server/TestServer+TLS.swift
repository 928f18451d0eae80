#if NIO
  import NIOCore
  import NIOSSL

  extension TestServer {
    /// How a server speaks TLS.
    public struct TLS: Sendable {
      /// The server's certificate and those that lead to an authority, in PEM.
      public var certificates: String
      /// The server's private key, in PEM, not encrypted.
      public var key: String
      /// Certificates of the authorities, in PEM, one of which every client must show a certificate of; `nil`, at
      /// first: clients stay anonymous.
      public var clientAuthorities: String?
      /// The newest version spoken; `nil`, at first: any.
      public var newestVersion: Version?

      /// A version of TLS.
      public enum Version: Sendable, Hashable {
        /// TLS 1.1, which nobody should accept.
        case tls11
        /// TLS 1.2.
        case tls12
      }

      /// Certificate and key, and nothing special.
      public init(certificates: String, key: String) {
        self.certificates = certificates
        self.key = key
      }

      func context() throws -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
          certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(certificates.utf8)).map { .certificate($0) },
          privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(key.utf8), format: .pem)))
        configuration.minimumTLSVersion = .tlsv1
        switch newestVersion {
        case .tls11: configuration.maximumTLSVersion = .tlsv11
        case .tls12: configuration.maximumTLSVersion = .tlsv12
        case nil: break
        }
        if let clientAuthorities {
          configuration.certificateVerification = .noHostnameVerification
          configuration.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(Array(clientAuthorities.utf8)))
        }
        return try NIOSSLContext(configuration: configuration)
      }
    }
  }
#endif
