#if os(Linux)
import Apus
import ApusNIO
import ApusOAuth
import Foundation

/// A browser with a scripted user, which follows the redirect.
struct ScriptedUser: AuthorizationBrowser {
  let client: Client
  var decision = "allow"

  func open(_ page: String, redirect: String) async throws -> String? {
    _ = try await client.send(Self.get(page))
    guard let location = try await decide(page) else { return nil }
    _ = try await client.send(Self.get(location))
    return nil
  }

  /// Returns the redirect that the user's decision leads to, without following it.
  func decide(_ page: String) async throws -> String? {
    try await client.response(to: Self.get("\(page)&decision=\(decision)").redirects(.none)).field("Location")
  }

  static func get(_ url: String) -> Request<Content> {
    Request(method: .get, path: .url(url), mapping: .content).accepting(.any)
  }
}

/// A client of the authorization server, and a client of the API behind it.
struct OAuthBench {
  struct Films: Decodable, Sendable {
    let client: String
    let scope: String
  }

  let client: Client
  let oauth: OAuthClient
  let transport: any Transport
  let url: String

  func signIn(scopes: [String] = ["openid", "films:read"]) async throws(OAuthError) -> OAuthGrant {
    try await oauth.signIn(scopes: scopes, redirect: .loopback(), browser: ScriptedUser(client: client))
  }

  func api(_ store: MemoryCredentialsStore) throws -> Client {
    var configuration = Configuration(baseURL: try BaseURL(url))
    configuration.timeout = .seconds(200)
    configuration.attemptTimeout = nil
    configuration.authentication = .oauth(oauth, store)
    return Client(configuration: configuration, transport: transport)
  }
}

/// Runs `body` with a client of the authorization server.
///
/// - Parameters:
///   - id: the client's ID. The tokens of `bound` are bound to a key.
///   - pushes: whether the client pushes its authorization requests, as clients do if the server supports it.
func withOAuth<Result>(
  id: String = "app", pushes: Bool = false, _ body: (OAuthBench) async throws -> Result
) async throws -> Result {
  let url = try await RealServer.oauth.value.url()
  return try await withTransport(.nio) { transport in
    let client = Client(environment: Environment(baseURL: try BaseURL(url)), transport: transport)
    var server = try await AuthorizationServer.discover(url, using: client)
    if !pushes { server.pushedAuthorizationEndpoint = nil }
    var oauth = OAuthClient(id: id, server: server, using: client)
    oauth.bindsTokens = id == "bound"
    return try await body(OAuthBench(client: client, oauth: oauth, transport: transport, url: url))
  }
}
#endif
