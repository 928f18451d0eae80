import ApusTestServer
import Foundation
import Testing

/// A certificate authority created for one test with the `openssl` command, with a server and a client certificate, as
/// files in a folder.
final class Certificates: Sendable {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "certificates-\(UUID())")

  init() throws {
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    try makeKey("ca")
    try openssl(
      "req -x509 -new -key ca.key -sha256 -days 2 -subj /CN=Test -addext keyUsage=critical,keyCertSign -out ca.pem")
    try sign("server", for: "DNS:localhost,IP:127.0.0.1")
    try sign("client", for: "email:client@example.com")
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  func path(_ file: String) -> String { folder.appending(path: file).path }

  func text(_ file: String) throws -> String { try String(contentsOfFile: path(file), encoding: .utf8) }

  /// Returns the TLS settings of a server, which can request client certificates.
  func tls(asksClients: Bool = false) throws -> TestServer.TLS {
    var tls = TestServer.TLS(certificates: try text("server.pem"), key: try text("server.key"))
    if asksClients { tls.clientAuthorities = try text("ca.pem") }
    return tls
  }

  /// Returns the pin of a key.
  func pin(_ name: String) throws -> String {
    try openssl("pkey -in \(name).key -pubout -outform DER -out \(name).spki")
    try openssl("dgst -sha256 -binary -out \(name).digest \(name).spki")
    return try Data(contentsOf: folder.appending(path: "\(name).digest")).base64EncodedString()
  }

  private func sign(_ name: String, for names: String) throws {
    try makeKey(name)
    try openssl("req -new -key \(name).key -subj /CN=\(name) -out \(name).csr")
    try Data("subjectAltName=\(names)\n".utf8).write(to: folder.appending(path: "names"))
    try openssl(
      "x509 -req -in \(name).csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -sha256 -extfile names -out \(name).pem"
    )
  }

  private func makeKey(_ name: String) throws {
    try openssl("ecparam -genkey -noout -name prime256v1 -out \(name).sec1")
    try openssl("pkcs8 -topk8 -nocrypt -in \(name).sec1 -out \(name).key")
  }

  private func openssl(_ arguments: String) throws {
    let process = Process()
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments = ["openssl"] + arguments.split(separator: " ").map(String.init)
    process.currentDirectoryURL = folder
    process.standardOutput = FileHandle.nullDevice
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "openssl \(arguments)")
  }
}
