import Foundation
import Uploading

/// A server that is an installed program, in a separate process.
final class ServingProgram {
  private let process = Process()

  /// Runs a command, and waits until it accepts connections on a loopback port.
  init(_ command: [String], port: Int) throws {
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = command
    try process.run()
    for _ in 0..<200 where !Loopback.accepts(port) { usleep(20_000) }
    guard Loopback.accepts(port) else { throw Unexpected() }
  }

  func stop(by signal: Int32 = SIGTERM) {
    kill(process.processIdentifier, signal)
    process.waitUntilExit()
  }
}

/// nghttpd with HTTP/2 over TLS, on a loopback port.
struct Nghttpd {
  let port: Int
  private let program: ServingProgram

  /// Starts nghttpd with the files and the certificate of an nginx. The response to an upload to `/up` is an object.
  init(_ nginx: Nginx) throws {
    port = try Loopback.freePort()
    let files = nginx.folder.appending(path: "files")
    try Data(contentsOf: files.appending(path: "users/7")).write(to: files.appending(path: "up"))
    let certificate = Certificate(at: nginx.folder)
    program = try ServingProgram(
      ["nghttpd", "-a", "127.0.0.1", "-d", files.path, "\(port)", certificate.key, certificate.path], port: port)
  }

  /// SIGTERM is not enough: nghttpd inherits the signals that the thread which starts it blocks.
  func stop() { program.stop(by: SIGKILL) }
}

/// A certificate of 127.0.0.1 that signs itself.
struct Certificate {
  /// The path of the certificate.
  let path: String
  /// The path of the key.
  let key: String

  /// The certificate that was made in a folder.
  init(at folder: URL) {
    path = folder.appending(path: "certificate.pem").path
    key = folder.appending(path: "key.pem").path
  }

  /// Makes a certificate with openssl.
  init(in folder: URL) throws {
    self.init(at: folder)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30",
      "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", path,
    ]
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Unexpected() }
  }
}

extension Loopback {
  /// Returns a free port.
  static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    return try bind(descriptor)
  }

  /// Whether a port accepts connections.
  fileprivate static func accepts(_ port: Int) -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = address(port: port)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
