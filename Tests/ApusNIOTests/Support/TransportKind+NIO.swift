import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import HTTP2Gateway
import LoopbackConformance

extension TransportKind {
  /// Returns ``NIOTransport`` with or without TLS. With HTTP/2 the test server has a gateway.
  ///
  /// - Parameter connections: the limit per origin. With a limit of one, a leaked connection makes the next call wait
  ///   forever.
  static func nio(isSecure: Bool, _ version: HTTPVersion = .http1, connections: Int = 128) throws -> TransportKind {
    var options = NIOTransport.Options.patient
    options.maximumConnectionsPerOrigin = connections
    if version == .http2 { options.protocols = [.http2] }
    let authority = isSecure ? try TestAuthority.shared() : nil
    if let authority { options.trust.additionalTrustRoots = [Data(authority.certificate.utf8)] }
    let name = "NIOTransport over HTTP/\(version.rawValue)\(isSecure ? " and TLS" : "")"
    var kind = TransportKind(name, tls: authority?.tls()) { [options] in
      let transport = NIOTransport(options: options)
      return Opened(transport, isQuiet: { transport.isQuiet }) { await transport.shutDown() }
    }
    if version == .http2 { kind.gateway = HTTP2Gateway.start }
    return kind
  }
}
