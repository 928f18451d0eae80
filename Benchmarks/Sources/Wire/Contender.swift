import Apus
import ApusNIO
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1

/// A contender: an HTTP client that makes the same calls.
protocol Contender: Sendable {
  func small() async throws -> Small
  func download(to path: String) async throws
  func upload(_ path: String) async throws
}

/// Plain async-http-client with a decoder.
struct Raw: Contender {
  private let base: String
  private let client = HTTPClient.shared
  private let decoder = JSONDecoder()

  init(port: Int) { base = "http://127.0.0.1:\(port)" }

  func small() async throws -> Small {
    var request = HTTPClientRequest(url: "\(base)/users/7")
    request.headers.add(name: "Accept", value: "application/json")
    let response = try await client.execute(request, timeout: .seconds(60))
    guard response.status == .ok else { throw Unexpected() }
    let content = try await response.body.collect(upTo: 1 << 20)
    return try decoder.decode(Small.self, from: content)
  }

  func download(to path: String) async throws {
    let delegate = try FileDownloadDelegate(path: path)
    let request = try HTTPClient.Request(url: "\(base)/big")
    _ = try await client.execute(request: request, delegate: delegate).get()
  }

  func upload(_ path: String) async throws {
    let pieces = try FilePieces(path: path)
    var request = HTTPClientRequest(url: "\(base)/up")
    request.method = .PUT
    request.body = .stream(pieces, length: .known(pieces.length))
    let response = try await client.execute(request, timeout: .seconds(60))
    _ = try await response.body.collect(upTo: 1 << 20)
  }
}

/// A typed client with the default pipeline.
struct Typed: Contender {
  let api: Client

  init(port: Int, transport: NIOTransport = NIOTransport(), executor: (any TaskExecutor)? = nil) throws {
    api = Client(baseURL: try BaseURL("http://127.0.0.1:\(port)"), transport: transport) {
      $0.settings.runtime.executor = executor
    }
  }

  func small() async throws -> Small {
    try await api.send(Request<Small>.get("/users/\(7)"))
  }

  func download(to path: String) async throws {
    try await api.withResponse(to: Request<Content>.get("/big")) { response in
      let file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
      defer { close(file) }
      while let piece = try await response.next() {
        try piece.withUnsafeBytes { bytes in
          var written = 0
          while written < bytes.count {
            let count = write(file, bytes.baseAddress?.advanced(by: written), bytes.count - written)
            guard count > 0 else { throw Unexpected() }
            written += count
          }
        }
      }
    }
  }

  func upload(_ path: String) async throws {
    try await api.send(Request<Void>.put("/up", content: .file(path)))
  }
}
