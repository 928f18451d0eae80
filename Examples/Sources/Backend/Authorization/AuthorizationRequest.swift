import Foundation

/// The parameters with which an app sends a user to the sign-in page (RFC 6749 §4.1.1, RFC 7636 §4.3).
struct AuthorizationRequest: Sendable, Equatable {
  let client: String
  /// The URL to which the browser is redirected.
  let redirect: AuthorizationRedirect
  /// The code challenge: the SHA-256 of a verifier that only the app knows.
  let challenge: String

  /// Reads the parameters.
  ///
  /// - Throws: ``AuthorizationFailure``. The client and its redirect are checked before anything else, because errors
  ///   are sent to a redirect only if it is the client's.
  init(_ query: Query, of client: RegisteredClient, issuer: String) throws(AuthorizationFailure) {
    guard query.repeated.isDisjoint(with: ["client_id", "redirect_uri"]), query["client_id"] == client.id else {
      throw .shown("The app that sent you here is not known.")
    }
    guard let target = query["redirect_uri"], client.allows(redirect: target) else {
      throw .shown("The app that sent you here named an address that is not its own.")
    }
    let state = query.repeated.contains("state") ? nil : query["state"]
    let redirect = AuthorizationRedirect(target: target, state: state, issuer: issuer)
    func failed(_ code: OAuthProblem.Code, _ description: String) -> AuthorizationFailure {
      .redirected(redirect, OAuthProblem(code, description))
    }
    guard query.repeated.isEmpty else { throw failed(.invalidRequest, "a parameter is repeated") }
    guard let type = query["response_type"] else { throw failed(.invalidRequest, "response_type is missing") }
    guard type == "code" else { throw failed(.unsupportedResponseType, "response_type must be code") }
    guard query["scope", default: ""].isEmpty else { throw failed(.invalidScope, "there are no scopes") }
    guard let challenge = query["code_challenge"] else {
      throw failed(.invalidRequest, "code_challenge is missing")
    }
    // Without a method the challenge would be the verifier itself (RFC 7636 §4.3).
    guard query["code_challenge_method"] == "S256" else {
      throw failed(.invalidRequest, "code_challenge_method must be S256")
    }
    guard CodeVerifier.isChallenge(challenge) else { throw failed(.invalidRequest, "code_challenge is malformed") }
    (self.client, self.redirect, self.challenge) = (client.id, redirect, challenge)
  }
}

/// The reason why there is no sign-in page.
enum AuthorizationFailure: Error, Equatable {
  /// A sentence for the user. The browser is not redirected, because the redirect is untrusted (RFC 6749 §4.1.2.1).
  case shown(String)
  /// An error for the app, at its redirect.
  case redirected(AuthorizationRedirect, OAuthProblem)
}

/// The redirect to the app.
struct AuthorizationRedirect: Sendable, Equatable {
  /// The app's URL, as in the request.
  let target: String
  /// The app's `state`, returned unchanged; `nil` if the request had none.
  let state: String?
  /// The server's issuer, by which the app recognizes the server (RFC 9207).
  let issuer: String

  /// Returns the URL of a successful sign-in.
  func url(code: String) -> String { url([("code", code)]) }

  /// Returns the URL of a failed sign-in.
  func url(_ problem: OAuthProblem) -> String {
    url([("error", problem.code.rawValue), ("error_description", problem.detail)])
  }

  private func url(_ parameters: [(name: String, value: String)]) -> String {
    let all = parameters + (state.map { [("state", $0)] } ?? []) + [("iss", issuer)]
    return target + "?" + all.map { "\($0.name)=\(Self.encoded($0.value))" }.joined(separator: "&")
  }

  private static func encoded(_ text: String) -> String {
    let unreserved = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    return text.addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: unreserved)) ?? ""
  }
}
