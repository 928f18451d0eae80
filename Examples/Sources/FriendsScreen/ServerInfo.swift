public import Apus

// Models and endpoints in a target isolated to the main actor. Each declaration needs at most one keyword.

/// A server's name and contents. Models need `nonisolated`, because responses are decoded off the main actor.
public nonisolated struct ServerInfo: Codable, Sendable, Hashable {
  /// The server's name.
  public let name: String
  /// The number of films.
  public let films: Int
}

/// Factories need `nonisolated` to be used off the main actor, for example in the closure of `client.pages(of:next:)`;
/// `send` on the main actor works without `nonisolated`.
nonisolated extension Endpoint where Self == Request<ServerInfo> {
  /// Returns the request for the server's description.
  public static func serverInfo() -> Self { .get("/") }
}

/// Endpoint types need no keyword: `Endpoint` is `Sendable`, so conforming types are not isolated.
public struct GetServerInfo: Endpoint {
  /// Creates the endpoint.
  public init() {}

  /// The request.
  public var request: Request<ServerInfo> { .get("/") }
}
