import NIOCore

/// The context of a request.
struct BackendContext: Sendable {
  let connection: Connection
  /// The log's exchange; `nil` for requests that are not logged.
  let exchange: Exchange?
  /// The values of the path's parameters. Set by the router.
  var parameters: [String: String] = [:]

  /// The port of the server.
  var port: Int { connection.channel.localAddress?.port ?? 0 }

  /// Waits for a duration, or until the client disconnects.
  func pause(for duration: Duration) async throws {
    try await connection.pause(for: duration)
  }

  /// Returns a path parameter as a positive number; `nil` if it is not a positive number, and so no resource's id.
  func id(_ name: String = "id") -> Int64? {
    parameters[name].flatMap { Int64($0) }.flatMap { $0 > 0 ? $0 : nil }
  }
}
