#if os(Linux)
import Foundation
import Testing

/// An independent server, started by `scripts/servers/serve.py` and ended with this process.
///
/// One server of each kind serves all tests of a run, so each test must use unique names.
final class RealServer: Sendable {
  /// The script's report on the server it has started.
  private struct Facts: Decodable {
    let ports: [String: Int]
    let folder: String
    let big: Int64?
    let checksum: UInt?
  }

  enum Kind: String, Sendable {
    case nginx
    case squid
    case httpbin
    case registry
    case datasette
    case litestarTus = "litestar-tus"
    case aiohttpTus = "aiohttp-tus"
    case seaweedfs
    case swift
    case moto
    case oauth
    case nginxHTTP2 = "nginx-http2"
    case nghttpd
    case h2o
    case haproxy
    case h2
    case hypercorn
    case varnish

    /// Whether the server's programs are installed.
    var isInstalled: Bool {
      let places = ProcessInfo.processInfo.environment["PATH", default: ""].split(separator: ":").map(String.init)
      switch self {
      case .httpbin, .datasette, .litestarTus, .aiohttpTus, .oauth:
        return FileManager.default.fileExists(atPath: root.appending(path: ".build-servers/pypi").path)
      case .seaweedfs, .swift, .moto, .h2, .hypercorn:
        let package = self == .seaweedfs ? "bin/weed" : rawValue
        return FileManager.default.fileExists(atPath: root.appending(path: ".build-servers/pypi/\(package)").path)
      case .nginx, .squid, .registry, .nginxHTTP2, .nghttpd, .h2o, .haproxy, .varnish:
        return (places + ["/usr/sbin", "/sbin", "/usr/local/sbin"]).contains {
          FileManager.default.isExecutableFile(atPath: "\($0)/\(program)")
        }
      }
    }

    private var program: String {
      switch self {
      case .registry: "docker-registry"
      case .nginxHTTP2: "nginx"
      case .varnish: "varnishd"
      default: rawValue
      }
    }
  }

  struct NotStarted: Error, CustomStringConvertible {
    let description: String
  }

  static let nginx = Task { try await started(.nginx) }
  static let squid = Task { try await started(.squid) }
  static let httpbin = Task { try await started(.httpbin) }
  static let registry = Task { try await started(.registry) }
  static let datasette = Task { try await started(.datasette) }
  static let litestarTus = Task { try await started(.litestarTus) }
  static let aiohttpTus = Task { try await started(.aiohttpTus) }
  static let seaweedfs = Task { try await started(.seaweedfs) }
  static let swift = Task { try await started(.swift) }
  static let moto = Task { try await started(.moto) }
  static let oauth = Task { try await started(.oauth) }
  static let nginxHTTP2 = Task { try await started(.nginxHTTP2) }
  static let nghttpd = Task { try await started(.nghttpd) }
  static let h2o = Task { try await started(.h2o) }
  /// In front of ``HTTP2Backend``.
  static let haproxy = Task { try await started(.haproxy, "\(try await HTTP2Backend.port)") }
  static let h2 = Task { try await started(.h2) }
  static let hypercorn = Task { try await started(.hypercorn) }
  /// In front of ``nginx``.
  static let varnish = Task { try await started(.varnish, "\(try await nginx.value.port())") }

  private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  private let facts: Facts
  private let process: Process
  /// The script's standard input. When it closes, at the latest at the end of this process, the script ends the server.
  private let holding: FileHandle

  /// The folder of the server's files.
  var folder: URL { URL(filePath: facts.folder) }
  /// The size of the large file, and its CRC-32.
  var big: (length: Int64, checksum: UInt) { (facts.big ?? 0, facts.checksum ?? 0) }

  func port(_ name: String = "plain") throws -> Int { try #require(facts.ports[name]) }

  func url(_ name: String = "plain") throws -> String { "http://127.0.0.1:\(try port(name))" }

  func secureURL(_ name: String = "tls") throws -> String { "https://localhost:\(try port(name))" }

  /// Returns the content of a file in the server's folder.
  func file(_ path: String) throws -> Data {
    try Data(contentsOf: folder.appending(path: path), options: .mappedIfSafe)
  }

  /// Starts a server, for tests that share it or for one test alone. It ends with its last reference.
  ///
  /// The thread is a separate one: blocking a thread of the shared pool would delay all tests.
  static func started(_ kind: Kind, _ arguments: String...) async throws -> RealServer {
    try await withCheckedThrowingContinuation { done in
      Thread.detachNewThread { done.resume(with: Result { try RealServer(kind, arguments) }) }
    }
  }

  /// Returns the output of a script of `scripts/servers`, without the line end.
  ///
  /// - Throws: ``NotStarted`` if the script fails.
  static func output(of script: String, _ arguments: String...) async throws -> String {
    try await withCheckedThrowingContinuation { done in
      Thread.detachNewThread {
        done.resume(
          with: Result {
            let (process, output) = (Process(), Pipe())
            process.executableURL = URL(filePath: "/usr/bin/env")
            process.arguments = ["python3", root.appending(path: "scripts/servers/\(script)").path] + arguments
            process.standardOutput = output
            try process.run()
            let text = try output.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            guard process.terminationStatus == 0 else { throw NotStarted(description: "\(script) failed") }
            return String(decoding: text, as: UTF8.self).trimmingCharacters(in: .newlines)
          })
      }
    }
  }

  private init(_ kind: Kind, _ arguments: [String]) throws {
    process = Process()
    let (input, output) = (Pipe(), Pipe())
    process.executableURL = URL(filePath: "/usr/bin/env")
    process.arguments =
      ["python3", Self.root.appending(path: "scripts/servers/serve.py").path, kind.rawValue] + arguments
    process.standardInput = input
    process.standardOutput = output
    holding = input.fileHandleForWriting
    // Prevents other servers from inheriting this input, because an inherited input would stay open.
    _ = fcntl(holding.fileDescriptor, F_SETFD, FD_CLOEXEC)
    try process.run()
    var line = Data()
    while !line.contains(UInt8(ascii: "\n")) {
      let piece = output.fileHandleForReading.availableData
      if piece.isEmpty { break }
      line += piece
    }
    let text = String(decoding: line, as: UTF8.self)
    guard text.hasPrefix("ready ") else { throw NotStarted(description: text.isEmpty ? "no \(kind)" : text) }
    facts = try JSONDecoder().decode(Facts.self, from: Data(text.dropFirst(6).utf8))
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips tests whose server is not installed. If all servers are required, the tests run and fail.
  static func needs(_ kind: RealServer.Kind) -> Self {
    .enabled(Comment(rawValue: "\(kind.rawValue) is not installed")) {
      let environment = ProcessInfo.processInfo.environment
      return kind.isInstalled || environment["CI"] == "true" || environment["APUS_SERVERS"] == "required"
    }
  }
}
#endif
