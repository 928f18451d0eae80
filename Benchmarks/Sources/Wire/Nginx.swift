import Foundation
import Samples
import Uploading

/// nginx on a loopback port, with a temporary folder.
final class Nginx {
  let port: Int
  let folder: URL
  private let process = Process()

  /// Starts nginx with an object at `/users/7`, arrays of objects at `/arrays/COUNT`, a file of `mebibytes` MiB at
  /// `/big`, and uploads at `/up`.
  init(mebibytes: Int = 1) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "apus-wire-\(UUID().uuidString)")
    port = try Self.freePort()
    let files = folder.appending(path: "files")
    try FileManager.default.createDirectory(at: files.appending(path: "users"), withIntermediateDirectories: true)
    try FileManager.default.createDirectory(at: files.appending(path: "arrays"), withIntermediateDirectories: true)
    try Data(Person.text.utf8).write(to: files.appending(path: "users/7"))
    for count in Answer.allCases.compactMap(\.count) {
      try Data(Person.array(count).utf8).write(to: files.appending(path: "arrays/\(count)"))
    }
    try Self.writeBytes(mebibytes, to: files.appending(path: "big"))
    try Data(Self.configuration(folder: folder.path, port: port).utf8).write(to: folder.appending(path: "nginx.conf"))
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [
      "nginx",
      "-p", folder.path, "-c", folder.appending(path: "nginx.conf").path, "-e", "\(folder.path)/errors",
    ]
    try process.run()
    for _ in 0..<200 where !accepts() { usleep(20_000) }
    guard accepts() else { throw Unexpected() }
  }

  func stop() {
    process.terminate()
    process.waitUntilExit()
    try? FileManager.default.removeItem(at: folder)
  }

  private static func configuration(folder: String, port: Int) -> String {
    """
    daemon off; worker_processes 1; pid \(folder)/pid; \(getuid() == 0 ? "user root;" : "")
    events { worker_connections 20000; }
    http {
      access_log off; keepalive_requests 100000000; keepalive_timeout 600; sendfile on; tcp_nopush on; client_max_body_size 0;
      client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy; fastcgi_temp_path \(folder)/fastcgi;
      uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi; open_file_cache max=10; default_type application/json;
      server {
        listen 127.0.0.1:\(port); root \(folder)/files;
        location /up { proxy_pass http://127.0.0.1:\(port)/taken; proxy_request_buffering off; proxy_http_version 1.1; }
        location /taken { client_body_buffer_size 64k; proxy_pass http://127.0.0.1:\(port)/users/7; proxy_method GET; proxy_pass_request_body off; }
      }
    }
    """
  }

  private static func writeBytes(_ mebibytes: Int, to url: URL) throws {
    try Data().write(to: url)
    let file = try FileHandle(forWritingTo: url)
    let piece = Data((0..<1_048_576).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 16) })
    for _ in 0..<mebibytes { try file.write(contentsOf: piece) }
    try file.close()
  }

  /// Returns a free port.
  private static func freePort() throws -> Int {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    return try Loopback.bind(descriptor)
  }

  private func accepts() -> Bool {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = Loopback.address(port: port)
    return withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
      }
    }
  }
}
