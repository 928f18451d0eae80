import Hummingbird
import NIOCore

/// The context of a request.
struct BackendContext: RequestContext {
  var coreContext: CoreRequestContextStorage
  let channel: any Channel
  /// Set before routing.
  var connection: Connection?

  init(source: ApplicationRequestContextSource) {
    coreContext = .init(source: source)
    channel = source.channel
  }

  var exchange: Exchange? { connection?.exchange }

  /// Waits for a duration, or until the client leaves.
  func pause(for duration: Duration) async throws {
    try await connection?.pause(for: duration)
  }

  /// Returns a path parameter as a positive number; `nil` for anything else, which names no resource.
  func id(_ name: String = "id") -> Int64? {
    parameters.get(name).flatMap(Int64.init).flatMap { $0 > 0 ? $0 : nil }
  }
}
