import Apus
import ApusOAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The authorization server and the client that refresh and revoke the tokens of a login. Stored encrypted, so that a
/// program without the key cannot redirect the tokens to another server.
struct OAuthSession: Sendable, Hashable, Codable {
  var issuer: String
  var tokenEndpoint: String
  var revocationEndpoint: String?
  var clientID: String
  /// The client's secret; `nil` for a client without a secret.
  var clientSecret: String?
  /// Whether the tokens are bound to a key (RFC 9449).
  var bindsTokens: Bool

  /// Creates the session of a client after its login.
  init(_ client: OAuthClient, secret: Secret?) {
    issuer = client.server.issuer
    tokenEndpoint = client.server.tokenEndpoint
    revocationEndpoint = client.server.revocationEndpoint
    clientID = client.id
    clientSecret = secret?.value
    bindsTokens = client.bindsTokens
  }

  /// Decodes the result of ``encoded()``; `nil` for any other text.
  init?(_ secret: Secret) {
    guard let session = try? JSONDecoder().decode(Self.self, from: Data(secret.value.utf8)) else { return nil }
    self = session
  }

  /// Encodes the session as JSON, with the client's secret in plain text.
  func encoded() throws -> Secret {
    Secret(String(decoding: try JSONEncoder().encode(self), as: UTF8.self))
  }

  /// Returns the client that refreshes and revokes the tokens.
  ///
  /// - Parameter sender: sends its requests.
  func client(using sender: Client) -> OAuthClient {
    var server = AuthorizationServer(issuer: issuer, tokenEndpoint: tokenEndpoint)
    server.revocationEndpoint = revocationEndpoint
    var client = OAuthClient(id: clientID, server: server, using: sender)
    client.bindsTokens = bindsTokens
    client.authentication = clientSecret.map { .basic(Secret($0)) } ?? .none
    return client
  }
}

extension Client {
  /// Creates the client for requests to an authorization server. These requests are not part of a command's trace.
  ///
  /// - Parameters:
  ///   - server: any URL of the server.
  ///   - transport: the transport.
  /// - Throws: `BaseURL.ParseError`
  static func toAuthorizationServer(_ server: String, over transport: any Transport) throws -> Client {
    Client(configuration: Configuration(baseURL: try BaseURL(server)), transport: transport)
  }
}

extension ConnectionPlan {
  /// Creates the client of a command for requests to an authorization server. Pins without a host apply to this server.
  ///
  /// - Parameter url: any URL of the server.
  /// - Throws: ``PlanError``, ``InputError``, `TargetURL.Malformed`, `BaseURL.ParseError`; `CancellationError`
  func client(ofAuthorizationServer url: String) async throws -> Client {
    try .toAuthorizationServer(url, over: try await transport(to: TargetURL(url).origin))
  }
}
