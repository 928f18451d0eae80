import NIOCore
import NIOSSL

extension TestServer {
  /// The options of a server: listening, TLS, replies and records.
  public struct Options: Sendable {
    /// The moment at which the handler is called for a reply.
    package enum ReplyMoment: Sendable, Hashable {
      /// When the request's head has arrived. Its content is received concurrently, and the reply may send 100
      /// (Continue).
      case head
      /// When the request is complete. The server immediately replies 100 to a request with `Expect: 100-continue`.
      case end
    }

    /// The maximum number of content bytes stored of a request; the rest is only counted and digested. Default: 1 MiB.
    package var contentLimit = 1 << 20
    /// The moment at which the handler is called for a reply. Default: when the request is complete.
    package var repliesAt = ReplyMoment.end
    /// The port to listen on. Default: 0, which selects a free port; any other port may be taken.
    package var port = 0
    /// The TLS configuration. Default: `nil`, which disables TLS.
    package var tls: TLS?
    /// The faults. At each trigger, the first fault that covers the connection or request takes effect. Default:
    /// none.
    package var faults: [Fault] = []
    /// A closure that selects requests whose handler is called at ``ReplyMoment/head``, regardless of ``repliesAt``.
    /// Default: none.
    package var repliesToHead: (@Sendable (RecordedRequest) -> Bool)?
    /// A closure that selects requests for which reading stops after the head until a step resumes reading. The closure
    /// is used only if the handler is called at the head. Default: none.
    package var stopsReadingAtHead: (@Sendable (RecordedRequest) -> Bool)?

    /// Whether the handler is called when a request's head has arrived; `nil`: always when the request is complete.
    var headReplies: (@Sendable (RecordedRequest) -> Bool)? {
      switch repliesAt {
      case .head: { _ in true }
      case .end: repliesToHead
      }
    }

    /// Creates options.
    ///
    /// - Parameters:
    ///   - contentLimit: The maximum number of content (body) bytes stored of a request; the rest is only counted.
    ///     Default: 1 MiB.
    ///   - port: The port to listen on. Default: 0, which selects a free port; any other port may be taken.
    ///   - tls: The TLS configuration. Default: `nil`, which disables TLS.
    public init(contentLimit: Int = 1 << 20, port: Int = 0, tls: TLS? = nil) {
      self.contentLimit = contentLimit
      self.port = port
      self.tls = tls
    }

    @_disfavoredOverload
    package init(
      contentLimit: Int = 1 << 20, repliesAt: ReplyMoment = .end, port: Int = 0, tls: TLS? = nil, faults: [Fault] = []
    ) {
      self.init(contentLimit: contentLimit, port: port, tls: tls)
      self.repliesAt = repliesAt
      self.faults = faults
    }
  }

  /// The TLS configuration of a server.
  public struct TLS: Sendable {
    /// The server's certificate chain, in PEM.
    package var certificates: String
    /// The server's unencrypted private key, in PEM.
    package var key: String
    /// The certificates of authorities, in PEM; every client must present a certificate of one of them. Default:
    /// `nil`, which requests no client certificate.
    public var clientAuthorities: String?
    /// The newest TLS version offered. Default: `nil`, which offers all.
    package var newestVersion: Version?

    /// A version of TLS.
    package enum Version: Sendable, Hashable {
      /// TLS 1.1, which no client should accept.
      case tls11
      /// TLS 1.2.
      case tls12
    }

    /// Creates a configuration.
    ///
    /// - Parameters:
    ///   - certificates: The server's certificate chain, in PEM.
    ///   - key: The server's unencrypted private key, in PEM.
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
