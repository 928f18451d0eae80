import ApusTestServer
import Foundation
import Testing

/// An authority made once per test run by the `openssl` command, and the certificates it has signed.
struct TestAuthority: Sendable {
  /// A certificate and its key, in PEM, and the pin of that key.
  struct Identity: Sendable {
    let certificate: String
    let key: String
    let pin: String
  }

  let certificate: String
  /// The pin of the authority's own key.
  let pin: String
  /// For localhost, 127.0.0.1 and ::1.
  let server: Identity
  /// For another host.
  let other: Identity
  /// Expired.
  let expired: Identity
  /// For a client.
  let client: Identity
  /// The client's identity in PKCS #12, encrypted with `secret`.
  let clientPKCS12: Data

  private static let made = Result { try TestAuthority() }

  /// The authority of this test run, made on first use.
  static func shared() throws -> TestAuthority { try made.get() }

  /// A server's TLS with an identity of this authority.
  func tls(_ identity: KeyPath<TestAuthority, Identity> = \.server) -> TestServer.TLS {
    let identity = self[keyPath: identity]
    return TestServer.TLS(certificates: identity.certificate, key: identity.key)
  }

  private init() throws {
    let shop = try OpenSSL()
    defer { shop.remove() }
    try shop.makeRoot("ca", subject: "Test")
    certificate = try shop.text("ca.pem")
    pin = try shop.pin("ca")
    server = try shop.identity("server", names: "DNS:localhost,IP:127.0.0.1,IP:::1")
    other = try shop.identity("other", names: "DNS:other.example")
    expired = try shop.identity("expired", names: "DNS:localhost,IP:127.0.0.1", days: -1)
    client = try shop.identity("client", names: "email:client@example.com")
    try shop.run("pkcs12 -export -in client.pem -inkey client.key -out client.p12 -passout pass:secret")
    clientPKCS12 = try shop.data("client.p12")
  }
}

extension OpenSSL {
  fileprivate func identity(_ name: String, names: String, days: Int = 2) throws -> TestAuthority.Identity {
    try sign(name, by: "ca", days: days, "subjectAltName=\(names)")
    return TestAuthority.Identity(
      certificate: try text("\(name).pem"), key: try text("\(name).key"), pin: try pin(name))
  }
}
