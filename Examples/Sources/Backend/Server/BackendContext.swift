import NIOCore

/// The context of a request.
struct BackendContext: Sendable {
  let connection: Connection
  /// `nil` for requests that are not logged.
  let exchange: Exchange?
  /// The values of the path's parameters. Set by the router.
  var parameters: [String: String] = [:]

  /// The port of the server.
  var port: Int { connection.channel.localAddress?.port ?? 0 }

  /// Waits for a duration, or until the client leaves.
  func pause(for duration: Duration) async throws {
    try await connection.pause(for: duration)
  }

  /// Returns a path parameter as a positive number; `nil` for anything else, which names no resource.
  func id(_ name: String = "id") -> Int64? {
    parameters[name].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
  }
}
