public import Apus

// A target isolated to the main actor can have models and endpoints of its own. What they need is one word each.

/// Which server this is. A model needs `nonisolated`: answers are decoded off the main actor.
public nonisolated struct ServerInfo: Codable, Sendable, Hashable {
  /// The server's name.
  public let name: String
  /// How many films it has.
  public let films: Int
}

/// Factories need `nonisolated` where they are used off the main actor, for example in the closure of
/// `client.pages(until:of:)`; `send` on the main actor does without.
nonisolated extension Endpoint where Self == Request<ServerInfo> {
  /// Asks the server who it is.
  public static func serverInfo() -> Self { .get("/") }
}

/// Endpoint types need nothing: `Endpoint` is `Sendable`, so they are not isolated.
public struct GetServerInfo: Endpoint {
  /// Makes the endpoint.
  public init() {}

  /// What is sent.
  public var request: Request<ServerInfo> { .get("/") }
}
