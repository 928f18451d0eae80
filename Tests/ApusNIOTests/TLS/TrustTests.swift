import ApusCore
import ApusNIO
import ApusTestServer
import Foundation
import Testing

@Suite("Trust")
struct TrustTests {
  /// Calls a server with this identity and TLS.
  private func call(
    _ tls: TestServer.TLS, host: String = "127.0.0.1",
    _ configure: @escaping (inout NIOTransport.Trust) throws -> Void
  ) async throws -> (error: CallError?, requests: Int) {
    var trust = NIOTransport.Trust()
    try configure(&trust)
    return try await TestServer.with(options: .init(tls: tls)) { _ in
      .text("secret")
    } body: { server in
      try await NIOTransport.with {
        $0.trust = trust
      } body: { transport in
        let client = try makeClient("https://\(host):\(server.port)", transport)
        let error = await failure { try await client.send(message()) }
        return (error, server.exchanges.count)
      }
    }
  }

  @Test("A certificate of an additional authority is trusted")
  func additionalAuthority() async throws {
    let authority = try TestAuthority.shared()
    for host in ["127.0.0.1", "localhost"] {
      let result = try await call(authority.tls(), host: host) {
        $0.additionalTrustRoots = [Data(authority.certificate.utf8)]
      }
      #expect(result.error == nil)
      #expect(result.requests == 1)
    }
  }

  @Test("With an authority as the only trust root, a certificate of that authority is trusted")
  func onlyAuthority() async throws {
    let authority = try TestAuthority.shared()
    let result = try await call(authority.tls()) { $0.trustRoots = .only(Data(authority.certificate.utf8)) }
    #expect(result.error == nil)
  }

  @Test(
    "A certificate that is unknown, expired or of another host is rejected, and nothing is sent",
    arguments: ["unknown", "other", "expired"])
  func refused(kind: String) async throws {
    let authority = try TestAuthority.shared()
    let identity = kind == "other" ? \TestAuthority.other : kind == "expired" ? \.expired : \.server
    for host in ["127.0.0.1", "localhost"] {
      let result = try await call(authority.tls(identity), host: host) {
        if kind != "unknown" { $0.additionalTrustRoots = [Data(authority.certificate.utf8)] }
      }
      let error = try #require(result.error)
      #expect(error.code == .tls)
      #expect(error.requestState == .notSent)
      #expect(result.requests == 0)
    }
  }

  @Test("A server without a recent version of TLS is refused")
  func oldVersion() async throws {
    let authority = try TestAuthority.shared()
    for (newest, oldest, isAccepted): (TestServer.TLS.Version, NIOTransport.TLSVersion, Bool) in [
      (.tls11, .tls12, false), (.tls12, .tls12, true), (.tls12, .tls13, false),
    ] {
      var tls = authority.tls()
      tls.newestVersion = newest
      let result = try await call(tls) {
        $0.additionalTrustRoots = [Data(authority.certificate.utf8)]
        $0.minimumTLSVersion = oldest
      }
      #expect((result.error == nil) == isAccepted)
      #expect(result.error?.code == (isAccepted ? nil : .tls))
    }
  }

  @Test("A host's certificate chain must contain one of its pinned keys, until the pins expire")
  func pins() async throws {
    let authority = try TestAuthority.shared()
    let wrong = authority.other.pin
    let cases: [(keys: [String], backup: [String], expiry: Date?, isAccepted: Bool)] = [
      ([authority.server.pin], [wrong], nil, true),
      ([wrong], [authority.server.pin], nil, true),
      ([authority.pin], [wrong], nil, true),
      ([wrong], [authority.client.pin], nil, false),
      ([wrong], [authority.client.pin], Date().addingTimeInterval(3600), false),
      ([wrong], [authority.client.pin], Date().addingTimeInterval(-60), true),
    ]
    for (keys, backup, expiry, isAccepted) in cases {
      let result = try await call(authority.tls(), host: "localhost") {
        var pin = try PinnedHost("localhost", keys: keys, backup: backup)
        pin.expiry = expiry
        $0.pins = [pin]
        $0.additionalTrustRoots = [Data(authority.certificate.utf8)]
      }
      #expect((result.error == nil) == isAccepted)
      #expect(result.error?.code == (isAccepted ? nil : .tls))
      #expect(result.requests == (isAccepted ? 1 : 0))
    }
  }

  @Test("A certificate that is untrusted or of another host is rejected even with a matching pin")
  func pinsAreNoTrust() async throws {
    let authority = try TestAuthority.shared()
    for isKnown in [false, true] {
      let identity = isKnown ? \TestAuthority.other : \.server
      let result = try await call(authority.tls(identity), host: "localhost") {
        $0.pins = [
          try PinnedHost("localhost", keys: [authority[keyPath: identity].pin], backup: [authority.client.pin])
        ]
        if isKnown { $0.additionalTrustRoots = [Data(authority.certificate.utf8)] }
      }
      #expect(result.error?.code == .tls)
      #expect(result.requests == 0)
    }
  }

  @Test("A client presents its certificate, in either format, to a server that requests one")
  func clientCertificate() async throws {
    let authority = try TestAuthority.shared()
    var tls = authority.tls()
    tls.clientAuthorities = authority.certificate
    let identities = [
      ClientIdentity(certificates: Data(authority.client.certificate.utf8), key: Data(authority.client.key.utf8)),
      ClientIdentity(pkcs12: authority.clientPKCS12, passphrase: "secret"),
    ]
    for identity in identities {
      let result = try await call(tls) {
        $0.additionalTrustRoots = [Data(authority.certificate.utf8)]
        $0.clientIdentity = identity
      }
      #expect(result.error == nil)
      #expect(result.requests == 1)
    }
    // With TLS 1.3 the client receives the rejection, an alert or a reset, when it may already have sent its request.
    let anonymous = try await call(tls) { $0.additionalTrustRoots = [Data(authority.certificate.utf8)] }
    #expect(anonymous.error?.code == .tls || anonymous.error?.code == .connectionLost)
    #expect(anonymous.requests == 0)
    tls.newestVersion = .tls12
    let early = try await call(tls) { $0.additionalTrustRoots = [Data(authority.certificate.utf8)] }
    #expect(early.error?.code == .tls)
    #expect(early.error?.requestState == .notSent)
    #expect(early.requests == 0)
  }

  @Test("Unreadable authorities and identities are an error before anything is sent")
  func unreadable() async throws {
    let authority = try TestAuthority.shared()
    let nonsense = Data("nonsense".utf8)
    let spoilers: [@Sendable (inout NIOTransport.Trust) -> Void] = [
      { $0.trustRoots = .only(nonsense) }, { $0.additionalTrustRoots = [nonsense] },
      { $0.clientIdentity = ClientIdentity(pkcs12: nonsense, passphrase: "") },
      { $0.clientIdentity = ClientIdentity(pkcs12: authority.clientPKCS12, passphrase: "wrong") },
      { $0.clientIdentity = ClientIdentity(certificates: nonsense, key: nonsense) },
    ]
    for spoil in spoilers {
      let result = try await call(authority.tls(), spoil)
      #expect(result.error?.code == .tls)
      #expect(result.error?.requestState == .notSent)
      #expect(result.requests == 0)
    }
  }

  @Test("Content without a length is complete only with TLS's close notification")
  func farewell() async throws {
    let authority = try TestAuthority.shared()
    for (step, isWhole): (Reply.Step, Bool) in [(.close, true), (.cut, false)] {
      try await TestServer.with(options: .init(tls: authority.tls())) { _ in
        Reply.unframed(Array("all of it?".utf8)).inserting([step], at: .end)
      } body: { server in
        try await NIOTransport.with {
          $0.trust.additionalTrustRoots = [Data(authority.certificate.utf8)]
        } body: { transport in
          let client = try makeClient(server.origin, transport)
          let error = await failure { try await client.send(message()) }
          #expect((error == nil) == isWhole)
          #expect(error?.code == (isWhole ? nil : .connectionLost))
          #expect(error?.requestState == (isWhole ? nil : .responded))
        }
      }
    }
  }

  @Test("An identity's description contains neither certificate nor key")
  func description() {
    let identity = ClientIdentity(pkcs12: Data("inside".utf8), passphrase: "inside")
    var dumped = ""
    dump(identity, to: &dumped)
    #expect(!"\(identity) \(String(reflecting: identity)) \(dumped)".contains("inside"))
  }
}
