import HTTPTypes
import Hummingbird

/// Lets signed-in clients through.
struct Gatekeeper: Sendable {
  let sessions: SessionStore
  let realm: String

  /// A route's handler that only signed-in clients reach.
  func guarding(
    _ handle: @escaping @Sendable (Request, BackendContext, Principal) async throws -> Response
  ) -> Routes.Handler {
    { request, context in
      let principal = try await principal(of: request)
      context.exchange?.identified(as: principal.account.id)
      return try await handle(request, context, principal)
    }
  }

  private func principal(of request: Request) async throws -> Principal {
    guard let field = request.headers[.authorization] else { throw Challenge.missing(realm: realm) }
    guard let token = BearerToken.token(in: field) else {
      throw Challenge.invalidToken(realm: realm, "The Authorization field holds no bearer token.")
    }
    switch try await sessions.principal(of: OpaqueToken(text: token)) {
    case .valid(let principal): return principal
    case .expired: throw Challenge.invalidToken(realm: realm, "The access token expired.")
    case .unknown, .reused: throw Challenge.invalidToken(realm: realm, "The access token is not valid.")
    }
  }
}
