import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import Testing

@Suite("Pins on the verified chain")
struct PinsOnChainTests {
  /// Calls a server with one pinned key. The server presents these certificates, beginning with its own certificate.
  private func call(
    _ shown: [CertificateChain.Link], pinned: String
  ) async throws -> (error: CallError?, requests: Int) {
    let chain = try CertificateChain.shared()
    let tls = TestServer.TLS(certificates: shown.map(\.certificate).joined(), key: chain.key)
    // Pins require a backup pin; this pin matches no key.
    let reserve = Data(repeating: 0, count: 32).base64EncodedString()
    let pin = try PinnedHost("localhost", keys: [pinned], backup: [reserve])
    return try await TestServer.with(options: .init(tls: tls)) { _ in
      .text("secret")
    } body: { server in
      try await NIOTransport.with {
        $0.trust.additionalTrustRoots = [Data(chain.root.certificate.utf8)]
        $0.trust.pins = [pin]
      } body: { transport in
        let client = try makeClient("https://localhost:\(server.port)", transport)
        let error = await failure { try await client.send(message()) }
        return (error, server.exchanges.count)
      }
    }
  }

  @Test("A pin may match any key of the verified chain: the server's, the intermediate's or the root's")
  func onTheChain() async throws {
    let chain = try CertificateChain.shared()
    for link in [chain.leaf, chain.intermediate, chain.root] {
      let result = try await call([chain.leaf, chain.intermediate], pinned: link.pin)
      #expect(result.error == nil)
      #expect(result.requests == 1)
    }
  }

  @Test("A pin does not match a presented certificate outside the verified chain, whatever its position and signer")
  func besideTheChain() async throws {
    let chain = try CertificateChain.shared()
    let foreign = try TestAuthority.shared()
    let superfluous = [
      chain.stranger, CertificateChain.Link(certificate: foreign.other.certificate, pin: foreign.other.pin),
      CertificateChain.Link(certificate: foreign.certificate, pin: foreign.pin),
    ]
    for link in superfluous {
      for shown in [[chain.leaf, chain.intermediate, link], [chain.leaf, link, chain.intermediate]] {
        let refused = try await call(shown, pinned: link.pin)
        let error = try #require(refused.error)
        #expect(error.code == .tls && error.requestState == .notSent)
        #expect(error.detail.hasSuffix(": the host presents none of the keys pinned for it"))
        #expect(refused.requests == 0)
        // The same certificates are accepted if a key on the chain is pinned.
        let accepted = try await call(shown, pinned: chain.intermediate.pin)
        #expect(accepted.error == nil)
      }
    }
  }
}
