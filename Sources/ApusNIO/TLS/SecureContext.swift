import ApusCore
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// The TLS contexts that all connections of a transport share. Each context is created when it is first needed, because
/// creation is slow.
final class SecureContext: Sendable {
  /// The party that checks whether a certificate is valid for the host.
  enum Identification: Sendable, Hashable {
    /// The TLS library and ``HostIdentity``. The library compares a host that is an address with the peer's address.
    case library
    /// ``HostIdentity`` alone: the host is an address and the peer is a proxy with another address.
    case ours
  }

  /// The differences between the contexts.
  struct Variant: Sendable, Hashable {
    let identification: Identification
    /// The versions of HTTP to offer (ALPN, RFC 7301), the preferred one first.
    let versions: [HTTPVersion]
  }

  private let configure: @Sendable () throws -> TLSConfiguration
  private let made = Mutex<[Variant: NIOSSLContext]>([:])

  /// - Parameter configure: returns the configuration with full verification, perhaps from files; may block.
  init(configure: @escaping @Sendable () throws -> TLSConfiguration) {
    self.configure = configure
  }

  /// Returns the context, made on a thread that may block. Fails with a `TransportError`.
  func context(_ variant: Variant, on loop: any EventLoop) -> EventLoopFuture<NIOSSLContext> {
    if let context = made.withLock({ $0[variant] }) { return loop.makeSucceededFuture(context) }
    return NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
      let context = try self.make(variant)
      return self.made.withLock { made in
        let first = made[variant] ?? context
        made[variant] = first
        return first
      }
    }
  }

  private func make(_ variant: Variant) throws(TransportError) -> NIOSSLContext {
    do {
      var configuration = try configure()
      configuration.applicationProtocols = variant.versions.map(\.applicationProtocol)
      if variant.identification == .ours { configuration.certificateVerification = .noHostnameVerification }
      return try NIOSSLContext(configuration: configuration)
    } catch {
      throw TransportError(
        .tls, requestState: .notSent, detail: "the certificates or the key cannot be read", underlying: error
      )
    }
  }
}

extension HTTPVersion {
  /// The name of the version in the TLS handshake (ALPN, RFC 7301).
  var applicationProtocol: String {
    switch self {
    case .http1: "http/1.1"
    case .http2: "h2"
    }
  }
}
