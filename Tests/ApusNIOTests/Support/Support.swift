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

/// Returns a client on a transport, without middlewares.
func makeClient(
  _ url: String, _ transport: NIOTransport, settings: ClientSettings = ClientSettings()
) throws -> Client {
  Client(environment: Environment(baseURL: try BaseURL(url)), transport: transport, settings: settings)
}

/// Returns a request that accepts every status.
func message(_ method: HTTPRequest.Method = .get, _ path: RequestPath = "/") -> Request<Content> {
  Request(method: method, path: path, mapping: .content).accepting(.any)
}

extension Content {
  /// The bytes as text.
  var string: String { String(decoding: data, as: UTF8.self) }
}

/// An error that no test expects.
struct Unexpected: Error {}

/// Content that can be produced only once.
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
  /// Options with timeouts so long that neither a test's delays nor a slow machine exceeds them.
  static var patient: Self {
    var options = Self()
    (options.connectTimeout, options.firstByteTimeout, options.stallTimeout) = (nil, nil, nil)
    options.idleTimeout = .seconds(3600)
    return options
  }
}

extension TestServer {
  /// Closes all connections, and returns when the transport's only loop has polled its sockets since.
  func closeConnections(of transport: NIOTransport) async throws {
    let loop = try #require(transport.core.loops.next())
    await closeConnections()
    // The second job runs after the loop has polled its sockets and handled the closes.
    for _ in 0..<2 { try await loop.submit {}.get() }
  }
}

extension NIOTransport {
  /// Whether no message waits for a connection or uses a connection.
  var isQuiet: Bool { usage.inUse == 0 && usage.waiting == 0 }

  /// Runs `body` with a transport and shuts the transport down. Fails if the transport still has connections or waiting
  /// exchanges after `body`.
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
