/// A server's certificate with an intermediate authority signed by a root, created once per test run with `openssl`.
struct CertificateChain: Sendable {
  /// A certificate in PEM, and the pin of its key.
  struct Link: Sendable {
    let certificate: String
    let pin: String
  }

  let root: Link
  /// The certificate of the intermediate authority, signed by the root.
  let intermediate: Link
  /// The certificate for localhost and 127.0.0.1, signed by the intermediate authority.
  let leaf: Link
  /// Another authority signed by the root, which has signed no certificate.
  let stranger: Link
  /// The leaf's key, in PEM.
  let key: String

  private static let made = Result { try CertificateChain() }

  /// Returns the chain of this test run, created on first use.
  static func shared() throws -> CertificateChain { try made.get() }

  private init() throws {
    let shop = try OpenSSL()
    defer { shop.remove() }
    let authority = ["basicConstraints=critical,CA:TRUE", "keyUsage=critical,keyCertSign"]
    try shop.makeRoot("root", subject: "root")
    try shop.sign("intermediate", by: "root", authority[0], authority[1])
    try shop.sign("stranger", by: "root", authority[0], authority[1])
    try shop.sign("leaf", by: "intermediate", "subjectAltName=DNS:localhost,IP:127.0.0.1")
    root = try shop.link("root")
    intermediate = try shop.link("intermediate")
    stranger = try shop.link("stranger")
    leaf = try shop.link("leaf")
    key = try shop.text("leaf.key")
  }
}

extension OpenSSL {
  fileprivate func link(_ name: String) throws -> CertificateChain.Link {
    CertificateChain.Link(certificate: try text("\(name).pem"), pin: try pin(name))
  }
}
