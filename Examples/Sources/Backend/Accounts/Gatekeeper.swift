import HTTPTypes

/// An authenticator of requests by their bearer tokens.
struct Gatekeeper: Sendable {
  let sessions: SessionStore
  let realm: String

  /// Wraps a route's handler so that it requires a signed-in client.
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

/// A parser of `Authorization: Bearer …` (RFC 6750 §2.1).
enum BearerToken {
  static func token(in field: String) -> String? {
    let parts = field.split(separator: " ", omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else { return nil }
    return String(parts[1])
  }
}

/// Problems with status 401 and their `WWW-Authenticate` field (RFC 6750 §3).
enum Challenge {
  /// Returns the problem of a request without credentials. The challenge has no error code, because the request
  /// contained no token (RFC 6750 §3.1).
  static func missing(realm: String) -> Problem {
    problem("This resource is for signed-in clients.", #"Bearer realm="\#(quoted(realm))""#)
  }

  /// Returns the problem of a failed sign-in. The challenge has no error code, because the request contained no token.
  static func refused(realm: String, _ description: String) -> Problem {
    problem(description, #"Bearer realm="\#(quoted(realm))", error_description="\#(quoted(description))""#)
  }

  /// Returns the problem of a rejected token.
  static func invalidToken(realm: String, _ description: String) -> Problem {
    let parameters = #"realm="\#(quoted(realm))", error="invalid_token", error_description="\#(quoted(description))""#
    return problem(description, "Bearer \(parameters)")
  }

  private static func problem(_ detail: String, _ challenge: String) -> Problem {
    Problem(.unauthorized, detail, fields: [.wwwAuthenticate: challenge])
  }

  /// Removes the characters that a quoted string cannot contain: the realm may be any name.
  private static func quoted(_ text: String) -> String {
    String(text.unicodeScalars.filter { $0.isASCII && $0.value >= 32 && $0 != "\"" && $0 != "\\" && $0.value != 127 })
  }
}
