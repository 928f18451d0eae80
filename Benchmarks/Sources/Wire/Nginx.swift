import Foundation
import Samples
import Uploading

/// nginx on a loopback port, with a temporary folder.
final class Nginx {
  let port: Int
  let folder: URL
  private let program: ServingProgram

  /// Starts nginx with an object at `/users/7`, arrays of objects at `/arrays/COUNT`, a file of `mebibytes` MiB at
  /// `/big`, and uploads at `/up`; with HTTP/2 over TLS, without uploads.
  init(mebibytes: Int = 1, isSecure: Bool = false) throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "apus-wire-\(UUID().uuidString)")
    port = try Loopback.freePort()
    let files = folder.appending(path: "files")
    try FileManager.default.createDirectory(at: files.appending(path: "users"), withIntermediateDirectories: true)
    try FileManager.default.createDirectory(at: files.appending(path: "arrays"), withIntermediateDirectories: true)
    try Data(Person.text.utf8).write(to: files.appending(path: "users/7"))
    for count in Answer.allCases.compactMap(\.count) {
      try Data(Person.array(count).utf8).write(to: files.appending(path: "arrays/\(count)"))
    }
    try Self.writeBytes(mebibytes, to: files.appending(path: "big"))
    let tls = isSecure ? Self.tls(try Certificate(in: folder)) : ""
    let configuration = Self.configuration(folder: folder.path, port: port, tls: tls)
    try Data(configuration.utf8).write(to: folder.appending(path: "nginx.conf"))
    program = try ServingProgram(
      [
        "nginx",
        "-p", folder.path, "-c", folder.appending(path: "nginx.conf").path, "-e", "\(folder.path)/errors",
      ], port: port)
  }

  func stop() {
    program.stop()
    try? FileManager.default.removeItem(at: folder)
  }

  private static func tls(_ certificate: Certificate) -> String {
    """
     ssl http2; ssl_certificate \(certificate.path); ssl_certificate_key \(certificate.key);
    http2_max_concurrent_streams 2000
    """
  }

  private static func configuration(folder: String, port: Int, tls: String) -> String {
    """
    daemon off; worker_processes 1; pid \(folder)/pid; \(getuid() == 0 ? "user root;" : "")
    events { worker_connections 20000; }
    http {
      access_log off; keepalive_requests 100000000; keepalive_timeout 600; sendfile on; tcp_nopush on; client_max_body_size 0;
      client_body_temp_path \(folder)/body; proxy_temp_path \(folder)/proxy; fastcgi_temp_path \(folder)/fastcgi;
      uwsgi_temp_path \(folder)/uwsgi; scgi_temp_path \(folder)/scgi; open_file_cache max=10; default_type application/json;
      server {
        listen 127.0.0.1:\(port)\(tls); root \(folder)/files;
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
}
