import Apus
import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1

/// A server on loopback that speaks HTTP/2 over TLS.
struct SecureServer: Sendable {
  let port: Int
  /// The path of its certificate.
  let certificate: String

  var url: String { "https://127.0.0.1:\(port)" }
}

extension Raw {
  /// Whether the server speaks HTTP/2 with this client.
  func speaksHTTP2() async throws -> Bool {
    try await client.execute(HTTPClientRequest(url: "\(base)/users/7"), timeout: .seconds(60)).version == .http2
  }

  func receive() async throws {
    let response = try await client.execute(HTTPClientRequest(url: "\(base)/big"), timeout: .seconds(60))
    var count = 0
    for try await piece in response.body { count += piece.readableBytes }
    guard response.status == .ok, count > 0 else { throw Unexpected() }
  }

  func upload(of bytes: Data) -> @Sendable () async throws -> Void {
    var request = HTTPClientRequest(url: "\(base)/up")
    request.method = .PUT
    request.body = .bytes(ByteBuffer(bytes: bytes))
    return { [client, request] in
      let response = try await client.execute(request, timeout: .seconds(60))
      _ = try await response.body.collect(upTo: 1 << 20)
      guard response.status == .ok else { throw Unexpected() }
    }
  }
}

extension Typed {
  func receive() async throws {
    try await api.withResponse(to: Request<Content>.get("/big")) { response in
      var count = 0
      while let piece = try await response.next() { count += piece.count }
      guard count > 0 else { throw Unexpected() }
    }
  }

  func upload(of bytes: Data) -> @Sendable () async throws -> Void {
    let request = Request<Void>.put("/up", content: .bytes(bytes))
    return { [api] in try await api.send(request) }
  }
}
