import ApusCore
import ApusTestServer
import Foundation
import HTTPTypes
import LoopbackConformance
import NIOCore
import Synchronization
@_exported import TestSupport
import Testing

@testable import ApusNIO

/// A client on a transport, without middlewares.
func makeClient(
  _ url: String, _ transport: NIOTransport, settings: ClientSettings = ClientSettings()
) throws -> Client {
  Client(environment: Environment(baseURL: try BaseURL(url)), transport: transport, settings: settings)
}

/// Any method and path; every status is accepted.
func message(_ method: HTTPRequest.Method = .get, _ path: RequestPath = "/") -> Request<Content> {
  Request(method: method, path: path, mapping: .content).accepting(.any)
}

extension Content {
  /// The bytes as text.
  var string: String { String(decoding: data, as: UTF8.self) }
}

/// Something happened that the test is not about.
struct Unexpected: Error {}

/// Bytes that are produced once.
final class Once: Sendable {
  private let bytes: Mutex<Data?>

  init(_ bytes: [UInt8]) {
    self.bytes = Mutex(Data(bytes))
  }

  func take() -> Data? {
    bytes.withLock { bytes in
      defer { bytes = nil }
      return bytes
    }
  }
}

extension NIOTransport.Options {
  /// Neither the delays of a test nor a slow machine may reach the transport's own limits.
  static var patient: Self {
    var options = Self()
    (options.connectTimeout, options.firstByteTimeout, options.stallTimeout) = (nil, nil, nil)
    options.idleTimeout = .seconds(3600)
    return options
  }
}

extension TestServer {
  /// Closes all connections, and returns when the transport's only loop has looked at its sockets since.
  func closeConnections(of transport: NIOTransport) async throws {
    let loop = try #require(transport.core.loops.next())
    await closeConnections()
    // The second call begins after the loop has looked at its sockets, where the closes are waiting.
    for _ in 0..<2 { try await loop.submit {}.get() }
  }
}

extension NIOTransport {
  /// Whether nothing waits for a connection or uses one.
  var isQuiet: Bool { usage.inUse == 0 && usage.waiting == 0 }

  /// Runs `body` with a transport, fails unless it is unused afterwards, and shuts it down.
  static func with<Result>(
    _ configure: (inout Options) -> Void = { _ in }, body: (NIOTransport) async throws -> Result
  ) async throws -> Result {
    var options = Options.patient
    configure(&options)
    let transport = NIOTransport(options: options)
    do {
      let result = try await body(transport)
      try await requireUnused { transport.isQuiet }
      await transport.shutDown()
      return result
    } catch {
      await transport.shutDown()
      throw error
    }
  }
}
