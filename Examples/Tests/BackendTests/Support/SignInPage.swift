import Foundation

/// An app that signs its user in at the authorization server, and the user's browser.
struct SignInPage: Sendable {
  /// The code verifier and the code challenge in the example of RFC 7636, appendix B.
  static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
  static let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
  static let redirect = "http://127.0.0.1:49152/callback"

  static let parameters = [
    "response_type": "code", "client_id": "demo-app", "redirect_uri": redirect, "state": "a b&c",
    "code_challenge": challenge, "code_challenge_method": "S256",
  ]

  let client: TestClient

  /// Returns the target of the page.
  ///
  /// - Parameter changes: parameters to replace; `nil` removes one.
  static func target(_ changes: [String: String?] = [:]) -> String {
    "/authorize?" + encoded(changed(parameters, changes))
  }

  /// Submits the page's form.
  func submit(email: String = "ann@example.com", password: String = "12345678") async throws -> Answer {
    try await client.post(
      Self.target(), form: Self.encoded(["email": email, "password": password, "decision": "sign-in"]))
  }

  /// Signs a user up, then in at the page. Returns the authorization code.
  func code() async throws -> String {
    _ = try await client.post("/accounts", #"{"name": "Ann", "email": "ann@example.com", "password": "12345678"}"#)
    return try Self.parameters(of: try await submit())["code"] ?? ""
  }

  /// Exchanges an authorization code for tokens.
  ///
  /// - Parameter changes: parameters to replace; `nil` removes one.
  func exchange(_ code: String, _ changes: [String: String?] = [:]) async throws -> Answer {
    let parameters = [
      "grant_type": "authorization_code", "code": code, "redirect_uri": Self.redirect, "code_verifier": Self.verifier,
    ]
    return try await token(Self.changed(parameters, changes))
  }

  /// Requests new tokens.
  func refresh(_ token: String) async throws -> Answer {
    try await self.token(["grant_type": "refresh_token", "refresh_token": token])
  }

  /// Signs a user up and in.
  func signIn() async throws -> SignedIn { try SignedIn(try await exchange(try await code()).json()) }

  func revoke(_ token: String) async throws -> Answer {
    try await client.post("/revoke", form: Self.encoded(["client_id": "demo-app", "token": token]))
  }

  private func token(_ parameters: [String: String]) async throws -> Answer {
    try await client.post("/token", form: Self.encoded(["client_id": "demo-app"].merging(parameters) { $1 }))
  }

  /// Returns the parameters of a redirect to the app.
  static func parameters(of answer: Answer) throws -> [String: String] {
    let parts = (answer["location"] ?? "").split(separator: "?", maxSplits: 1).map(String.init)
    guard parts.count == 2, parts[0] == redirect else { throw Wire.Closed() }
    let pairs = parts[1].split(separator: "&").map { pair in
      pair.split(separator: "=", maxSplits: 1).map { $0.removingPercentEncoding ?? "" }
    }
    return Dictionary(uniqueKeysWithValues: pairs.map { ($0[0], $0[1]) })
  }

  private static func changed(_ parameters: [String: String], _ changes: [String: String?]) -> [String: String] {
    var parameters = parameters
    for (name, value) in changes { parameters[name] = value }
    return parameters
  }

  static func encoded(_ parameters: [String: String]) -> String {
    parameters.map { name, value in
      "\(name)=\(value.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
    }.joined(separator: "&")
  }
}
