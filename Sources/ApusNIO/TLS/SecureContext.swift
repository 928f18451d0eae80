#if NIO
  import ApusCore
  import NIOCore
  import NIOPosix
  import NIOSSL
  import Synchronization

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// What all TLS connections of a transport have in common: made by the first of them, which takes a while.
  final class SecureContext: Sendable {
    private let trust: NIOTransport.Trust
    private let made = Mutex<[Identification: NIOSSLContext]>([:])

    /// Who finds out whether a certificate is for the host.
    enum Identification: Sendable, Hashable {
      /// The TLS library, which compares an address with the peer's, and ``HostIdentity`` besides.
      case library
      /// ``HostIdentity`` alone, where the host is an address and the peer a proxy that has another.
      case ours
    }

    init(trust: NIOTransport.Trust) {
      self.trust = trust
    }

    /// The context, read from files and text on a thread that may block. Fails with a ``TransportError``.
    func context(identifiedBy way: Identification, on loop: any EventLoop) -> EventLoopFuture<NIOSSLContext> {
      if let context = made.withLock({ $0[way] }) { return loop.makeSucceededFuture(context) }
      return NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
        let context = try self.make(way)
        return self.made.withLock { made in
          let first = made[way] ?? context
          made[way] = first
          return first
        }
      }
    }

    private func make(_ way: Identification) throws(TransportError) -> NIOSSLContext {
      do {
        var configuration = try self.configuration()
        if way == .ours { configuration.certificateVerification = .noHostnameVerification }
        return try NIOSSLContext(configuration: configuration)
      } catch {
        throw TransportError(
          .tls, requestState: .notSent, detail: "the certificates or the key to use are not readable", underlying: error
        )
      }
    }

    private func configuration() throws -> TLSConfiguration {
      var configuration = TLSConfiguration.makeClientConfiguration()
      configuration.certificateVerification = .fullVerification
      configuration.minimumTLSVersion = trust.minimumVersion == .tls13 ? .tlsv13 : .tlsv12
      configuration.applicationProtocols = ["http/1.1"]
      // A server that does not answer the farewell keeps nobody waiting.
      configuration.shutdownTimeout = .milliseconds(500)
      if case .only(let authorities) = trust.authorities {
        configuration.trustRoots = .certificates(try Self.certificates(authorities))
      }
      configuration.additionalTrustRoots = try trust.additionalAuthorities.map {
        .certificates(try Self.certificates($0))
      }
      if let identity = trust.clientIdentity { try configuration.setIdentity(identity) }
      return configuration
    }

    fileprivate static func certificates(_ pem: Data) throws -> [NIOSSLCertificate] {
      try NIOSSLCertificate.fromPEMBytes(Array(pem))
    }
  }

  extension TLSConfiguration {
    fileprivate mutating func setIdentity(_ identity: ClientIdentity) throws {
      switch identity.form {
      case .pkcs12(let data, let passphrase):
        let bundle = try NIOSSLPKCS12Bundle(buffer: Array(data), passphrase: passphrase.utf8)
        certificateChain = bundle.certificateChain.map { .certificate($0) }
        privateKey = .privateKey(bundle.privateKey)
      case .pem(let certificates, let key):
        certificateChain = try SecureContext.certificates(certificates).map { .certificate($0) }
        privateKey = .privateKey(try NIOSSLPrivateKey(bytes: Array(key), format: .pem))
      }
    }
  }
#endif
