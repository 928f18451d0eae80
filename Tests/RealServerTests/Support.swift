#if os(Linux)
@_exported import TestSupport
import Apus
import ApusNIO
import ApusURLSession
import CApusZlib
import Foundation
import LoopbackConformance

/// The transports under test.
enum Wire: String, CaseIterable, Sendable {
  case nio
  case urlSession
}

/// Runs `body` with a client without middlewares and with a separate transport, which is shut down afterwards.
func withClient<Result>(
  _ url: String, over wire: Wire = .nio, _ configure: (inout NIOTransport.Options) -> Void = { _ in },
  body: (Client) async throws -> Result
) async throws -> Result {
  try await withTransport(wire, configure) { transport in
    let client = Client(environment: Environment(baseURL: try BaseURL(url)), transport: transport)
    let result = try await body(client)
    try await requireSoon("calls are left in the registry") { client.calls.isEmpty }
    return result
  }
}

/// Runs `body` with a client configured as in apps.
func withConfigured<Result>(
  _ url: String, over wire: Wire = .nio, _ configure: (inout Configuration) -> Void,
  body: (Client) async throws -> Result
) async throws -> Result {
  var configuration = Configuration(baseURL: try BaseURL(url))
  configuration.timeout = .seconds(300)
  // Each response must be the server's response to a single message.
  configuration.attemptTimeout = nil
  configuration.retry = .none
  configure(&configuration)
  return try await withTransport(wire) { try await body(Client(configuration: configuration, transport: $0)) }
}

func withTransport<Result>(
  _ wire: Wire, _ configure: (inout NIOTransport.Options) -> Void = { _ in },
  body: (any Transport) async throws -> Result
) async throws -> Result {
  switch wire {
  case .urlSession:
    let transport = URLSessionTransport()
    defer { transport.shutDown() }
    return try await body(transport)
  case .nio:
    var options = NIOTransport.Options()
    // The machine may be slow, so no short timeout may end a call.
    (options.connectTimeout, options.firstByteTimeout, options.stallTimeout) = (.seconds(120), nil, nil)
    options.idleTimeout = .seconds(3600)
    configure(&options)
    let transport = NIOTransport(options: options)
    do {
      let result = try await body(transport)
      try await requireUnused { transport.usage.inUse + transport.usage.waiting == 0 }
      await transport.shutDown()
      return result
    } catch {
      await transport.shutDown()
      throw error
    }
  }
}

/// Returns a request with any method and path; every status is accepted.
func message(_ method: HTTPRequest.Method = .get, _ path: RequestPath) -> Request<Content> {
  Request(method: method, path: path, mapping: .content).accepting(.any)
}

extension Content {
  /// The content as text.
  var string: String { String(decoding: data, as: UTF8.self) }
}

extension Response {
  /// Returns a field of the response by name.
  func field(_ name: String) -> String? { HTTPField.Name(name).flatMap { head.headerFields[$0] } }

  /// Whether the response came over a new connection.
  var isOnNewConnection: Bool { trace.reuses.contains(false) }
}

/// A CRC-32 over consecutive pieces.
struct Checksum {
  private(set) var value: UInt = 0
  private(set) var length: Int64 = 0

  mutating func add(_ data: Data) {
    length += Int64(data.count)
    data.withUnsafeBytes { bytes in
      value = crc32(value, bytes.bindMemory(to: UInt8.self).baseAddress, UInt32(bytes.count))
    }
  }
}

/// Returns the number of bytes of memory that this process uses.
func residentBytes() throws -> Int {
  let status = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
  return (status.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0) * 4096
}
#endif
