import Apus

extension Server {
  /// A backend that answers too fast for the demo: nothing would be in flight long enough to be cancelled.
  struct TooFast: Error, CustomStringConvertible {
    let address: String
    var description: String {
      "The backend at \(address) answers at once, so nothing can be seen in flight. Start it with --latency 150."
    }
  }

  /// A server that runs already.
  ///
  /// - Throws: ``TooFast``; what a malformed address or a server that cannot be reached makes.
  static func running(_ name: String, at address: String) async throws -> Server {
    let baseURL = try BaseURL(address)
    let server = Server(name, at: baseURL, log: RemoteLog(at: baseURL))
    let latency: Int = try await server.client.send(.get("/").at("latency_ms"))
    guard latency >= 50 else { throw TooFast(address: address) }
    return server
  }
}
