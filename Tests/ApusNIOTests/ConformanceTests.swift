import ApusCore
import ApusNIO
import ApusTesting
import Foundation
import HTTP2Gateway
import LoopbackConformance
import Testing

@Suite("Conformance")
struct ConformanceTests {
  /// The checks whose responses violate the syntax of HTTP/1.1 or the order of its responses. A gateway to HTTP/2 cannot
  /// pass on such a response.
  private static let syntaxChecks: Set = [
    "refuses an invalid status line",
    "refuses an invalid field line: its name, its colon, folding, NUL or CR in its value",
    "refuses a conflicting or invalid Content-Length",
    "refuses transfer codings other than a single chunked, and any with Content-Length",
    "refuses a chunk size that is not hexadecimal or too large",
    "refuses a chunk that is longer or shorter than its size",
    "refuses a response that is not HTTP",
    "never reads bytes after a response as the next response",
  ]

  private static let cases = HTTPVersion.allCases.flatMap { version in
    TransportConformance.checks.filter { version == .http1 || !syntaxChecks.contains($0.name) }.map { ($0, version) }
  }

  @Test("NIOTransport passes the transport conformance suite", arguments: cases)
  func conforms(check: TransportConformance.Check, version: HTTPVersion) async throws {
    try await LoopbackServer.with(gateway: version == .http2 ? HTTP2Gateway.start : nil) { server in
      try await NIOTransport.with {
        if version == .http2 { $0.protocols = [.http2] }
      } body: {
        try await check.run($0, server, limit: .seconds(1200))
      }
    }
  }

  @Test("NIOTransport passes the transport conformance suite over TLS", arguments: cases)
  func conformsSecurely(check: TransportConformance.Check, version: HTTPVersion) async throws {
    let authority = try TestAuthority.shared()
    let gateway = version == .http2 ? HTTP2Gateway.start : nil
    try await LoopbackServer.with(tls: authority.tls(), gateway: gateway) { server in
      try await NIOTransport.with {
        $0.trust.additionalTrustRoots = [Data(authority.certificate.utf8)]
      } body: {
        try await check.run($0, server, limit: .seconds(1200))
      }
    }
  }

  @Test("Every check that is not run over HTTP/2 exists")
  func checksExist() {
    #expect(Self.syntaxChecks.isSubset(of: TransportConformance.checks.map(\.name)))
  }
}
