import ApusCore
import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Testing

@testable import ApusNIO

/// The tests have no certificate signed by the system's authorities, so they inspect the TLS library's configuration.
@Suite("System and additional authorities")
struct SystemRootsTests {
  private func configuration(
    _ way: SecureContext.Identification, _ configure: (inout NIOTransport.Trust) -> Void = { _ in }
  ) async throws -> TLSConfiguration {
    var trust = NIOTransport.Trust()
    configure(&trust)
    let loop = MultiThreadedEventLoopGroup.singleton.next()
    let context = SecureContext { [trust] in try trust.configuration() }
    return try await context.context(SecureContext.Variant(identification: way, versions: [.http1]), on: loop).get()
      .configuration
  }

  private func certificates(_ pem: String) throws -> [NIOSSLCertificate] {
    try NIOSSLCertificate.fromPEMBytes(Array(pem.utf8))
  }

  @Test(
    "Additional authorities are trusted in addition to the system's authorities",
    arguments: [SecureContext.Identification.library, .ours])
  func beside(way: SecureContext.Identification) async throws {
    let one = try TestAuthority.shared().certificate
    let chain = try CertificateChain.shared()
    let (two, three) = (chain.root.certificate, chain.stranger.certificate)
    let plain = try await configuration(way)
    let added = try await configuration(way) {
      $0.additionalTrustRoots = [Data(one.utf8), Data((two + three).utf8)]
    }
    for made in [plain, added] {
      // Without roots, the library uses the system's roots.
      let roots: NIOSSLTrustRoots = made.trustRoots ?? .default
      #expect(roots == .default)
      let verification: CertificateVerification = way == .ours ? .noHostnameVerification : .fullVerification
      #expect(made.certificateVerification == verification)
    }
    #expect(plain.additionalTrustRoots.isEmpty)
    let wanted: [NIOSSLAdditionalTrustRoots] = [
      .certificates(try certificates(one)), .certificates(try certificates(two) + certificates(three)),
    ]
    #expect(added.additionalTrustRoots == wanted)
  }

  @Test(
    "With exclusive authorities, the system's authorities are not trusted, but additional authorities are",
    arguments: [SecureContext.Identification.library, .ours])
  func only(way: SecureContext.Identification) async throws {
    let one = try TestAuthority.shared().certificate
    let two = try CertificateChain.shared().root.certificate
    let made = try await configuration(way) {
      $0.trustRoots = .only(Data(one.utf8))
      $0.additionalTrustRoots = [Data(two.utf8)]
    }
    let roots: NIOSSLTrustRoots = .certificates(try certificates(one))
    #expect(made.trustRoots == roots)
    let added: [NIOSSLAdditionalTrustRoots] = [.certificates(try certificates(two))]
    #expect(made.additionalTrustRoots == added)
  }
}
