import ApusNIO
import ApusTestServer
import Foundation
import LoopbackConformance

extension TransportKind {
  /// Returns ``NIOTransport`` with or without TLS.
  ///
  /// - Parameter connections: the total limit. With a limit of one, a leaked connection makes the next call wait
  ///   forever.
  static func nio(isSecure: Bool, connections: Int = 128) throws -> TransportKind {
    var options = NIOTransport.Options.patient
    options.maximumConnectionsPerOrigin = connections
    let authority = isSecure ? try TestAuthority.shared() : nil
    if let authority { options.trust.additionalTrustRoots = [Data(authority.certificate.utf8)] }
    return TransportKind(isSecure ? "NIOTransport over TLS" : "NIOTransport", tls: authority?.tls()) { [options] in
      let transport = NIOTransport(options: options)
      return Opened(transport, isQuiet: { transport.isQuiet }) { await transport.shutDown() }
    }
  }
}
