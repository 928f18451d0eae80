#if NIO
  import ApusTestServer
  import Foundation
  import Testing

  /// An authority made for one run of the tests by the `openssl` command, and what it has signed.
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
    /// Its time is over.
    let expired: Identity
    /// For a client.
    let client: Identity
    /// The client's identity in PKCS #12, encrypted with `secret`.
    let clientPKCS12: Data

    private static let made = Result { try TestAuthority() }

    /// The authority of this run, made when it is first asked for.
    static func shared() throws -> TestAuthority { try made.get() }

    /// A server's TLS with an identity of this authority.
    func tls(_ identity: KeyPath<TestAuthority, Identity> = \.server) -> TestServer.TLS {
      let identity = self[keyPath: identity]
      return TestServer.TLS(certificates: identity.certificate, key: identity.key)
    }

    private init() throws {
      let shop = try OpenSSL()
      defer { shop.remove() }
      try shop.makeKey("ca")
      try shop.run(
        "req -x509 -new -key ca.key -sha256 -days 2 -subj /CN=Test -addext keyUsage=critical,keyCertSign -out ca.pem")
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

  /// The `openssl` command in a folder of its own.
  private struct OpenSSL {
    struct Failed: Error {
      let command: String
      let output: String
    }

    let folder = FileManager.default.temporaryDirectory.appending(path: "authority-\(UUID())")

    init() throws {
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    func remove() {
      try? FileManager.default.removeItem(at: folder)
    }

    func data(_ file: String) throws -> Data { try Data(contentsOf: folder.appending(path: file)) }

    func text(_ file: String) throws -> String { String(decoding: try data(file), as: UTF8.self) }

    func makeKey(_ name: String) throws {
      try run("ecparam -genkey -noout -name prime256v1 -out \(name).key.sec1")
      try run("pkcs8 -topk8 -nocrypt -in \(name).key.sec1 -out \(name).key")
    }

    func identity(_ name: String, names: String, days: Int = 2) throws -> TestAuthority.Identity {
      try makeKey(name)
      try run("req -new -key \(name).key -subj /CN=\(name) -out \(name).csr")
      try "subjectAltName=\(names)\n".write(
        to: folder.appending(path: "\(name).ext"), atomically: true, encoding: .utf8)
      try run(
        "x509 -req -in \(name).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days \(days) -sha256"
          + " -extfile \(name).ext -out \(name).pem")
      return TestAuthority.Identity(
        certificate: try text("\(name).pem"), key: try text("\(name).key"), pin: try pin(name))
    }

    /// SHA-256 of the subject public key info, in Base64.
    func pin(_ name: String) throws -> String {
      try run("pkey -in \(name).key -pubout -outform DER -out \(name).spki")
      try run("dgst -sha256 -binary -out \(name).digest \(name).spki")
      return try data("\(name).digest").base64EncodedString()
    }

    func run(_ arguments: String) throws {
      let process = Process()
      let output = Pipe()
      process.executableURL = URL(filePath: "/usr/bin/env")
      process.arguments = ["openssl"] + arguments.split(separator: " ").map(String.init)
      process.currentDirectoryURL = folder
      process.standardError = output
      process.standardOutput = output
      try process.run()
      let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
      process.waitUntilExit()
      guard process.terminationStatus == 0 else { throw Failed(command: arguments, output: text) }
    }
  }
#endif
