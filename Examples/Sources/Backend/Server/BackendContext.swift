import Hummingbird
import NIOCore

/// What the routes know about a request besides the request.
struct BackendContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel
  /// Set before any route runs.
  var connection: Connection?

  init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    channel = source.channel
  }

  var exchange: Exchange? { connection?.exchange }

  /// Waits for some time, at most until the client leaves.
  func pause(for duration: Duration) async throws {
    try await connection?.pause(for: duration)
  }

  /// A path's parameter as a positive number; anything else names nothing that exists.
  func id(_ name: String = "id") -> Int64? {
    parameters.get(name).flatMap(Int64.init).flatMap { $0 > 0 ? $0 : nil }
  }
}
