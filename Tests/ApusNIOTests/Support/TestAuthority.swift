import ApusTestServer
import Foundation
import Testing

/// A certificate authority created once per test run with `openssl`, and the certificates that it has signed.
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
  /// The identity of localhost, 127.0.0.1 and ::1.
  let server: Identity
  /// The identity of another host.
  let other: Identity
  /// An expired identity.
  let expired: Identity
  /// The identity of a client.
  let client: Identity
  /// The client's identity in PKCS #12, encrypted with `secret`.
  let clientPKCS12: Data

  private static let made = Result { try TestAuthority() }

  /// Returns the authority of this test run, created on first use.
  static func shared() throws -> TestAuthority { try made.get() }

  /// Returns a server's TLS options with an identity of this authority.
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
