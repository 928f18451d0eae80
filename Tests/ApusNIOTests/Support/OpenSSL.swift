import Foundation

/// The `openssl` command in a folder of its own. A key and a certificate are named after their owner.
struct OpenSSL {
  struct Failed: Error {
    let command: String
    let output: String
  }

  private let folder = FileManager.default.temporaryDirectory.appending(path: "openssl-\(UUID())")

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

  /// Makes a key and a self-signed certificate of an authority.
  func makeRoot(_ name: String, subject: String) throws {
    try makeKey(name)
    try run(
      "req -x509 -new -key \(name).key -sha256 -days 2 -subj /CN=\(subject) -addext keyUsage=critical,keyCertSign"
        + " -out \(name).pem")
  }

  /// Makes a key and a certificate with extensions, one a line, signed by an authority.
  func sign(_ name: String, by issuer: String, days: Int = 2, _ extensions: String...) throws {
    try makeKey(name)
    try run("req -new -key \(name).key -subj /CN=\(name) -out \(name).csr")
    let lines = extensions.map { $0 + "\n" }.joined()
    try lines.write(to: folder.appending(path: "\(name).ext"), atomically: true, encoding: .utf8)
    try run(
      "x509 -req -in \(name).csr -CA \(issuer).pem -CAkey \(issuer).key -CAcreateserial -days \(days) -sha256"
        + " -extfile \(name).ext -out \(name).pem")
  }

  /// Returns the SHA-256 of the subject public key info, in Base64.
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
