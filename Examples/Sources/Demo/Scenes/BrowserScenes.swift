import AccountsService
import Apus
import ApusOAuth
import Backend
import Foundation

/// A sign-in with a browser, first cancelled, then completed: the app never sees the password.
struct BrowserSignInScene: Scene {
  let title = "Sign-in with a browser: OAuth with a code and PKCE"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server, user) = (world.stage, world.identity, world.user)
    let accounts = LiveAccountsService(client: server.client, credentials: server.tokens)
    _ = try await accounts.signUp(SignUpForm(name: user.name, email: user.email, password: user.password))
    let app = try await BrowserApp.started(in: world.browserAppFolder.path, server: server.url())
    stage.say("The app opens a browser. Ada cancels …")
    let cancellation = try await showCancellation(of: app, on: stage)
    stage.say("… and then signs in there. The browser is redirected to the app, which listens on 127.0.0.1.")
    try await app.signIn(with: ScriptedBrowser(.signIn(email: user.email, password: user.password)))
    stage.say("Signed in as \(try await app.accountName()).")
    stage.note("the password went from the browser to the server; the app got a code, and exchanged it for tokens")
    return [
      Claim(
        name: "discovery", server: server, subject: "GET /.well-known/oauth-authorization-server", expected: "200"),
      Claim(
        name: "pkce", server: server, subject: "GET /authorize", expected: "S256 ×2, redirect to 127.0.0.1",
        summary: Self.requests),
      Claim(name: "browser-sign-in", server: server, subject: "POST /authorize", expected: "303 ×2"),
      Claim(name: "code-exchange", server: server, subject: "POST /token", expected: "200"),
      Claim(
        name: "browser-token", server: server, subject: "GET /accounts/me",
        expected: Server.fingerprint(of: .tokens(try await app.tokens())), summary: Claim.credentials),
      .app("cancelled-sign-in", "error of the cancelled sign-in", expected: "accessDenied", shown: cancellation),
    ]
  }

  /// Starts a sign-in that the user cancels. Returns the error's code.
  private func showCancellation(of app: BrowserApp, on stage: Stage) async throws -> String {
    do {
      try await app.signIn(with: ScriptedBrowser(.cancel))
      return "none"
    } catch let error as OAuthError where error.isCancellation {
      stage.note("\(error)")
      return "\(error.code)"
    }
  }

  /// Lists the code challenges of authorization requests, and the hosts of their redirects.
  @Sendable
  private static func requests(_ rows: [LoggedExchange]) -> String {
    // `URLComponents` cannot be used, because it would encode the brackets of masked values.
    let queries = rows.map { row in
      (row.query ?? "").split(separator: "&").map { parameter in
        parameter.split(separator: "=", maxSplits: 1).map { $0.removingPercentEncoding ?? "" }
      }
    }
    func values(_ name: String) -> [String] { queries.compactMap { query in query.first { $0.first == name }?.last } }
    let hosts = Set(values("redirect_uri").map { URL(string: $0)?.host ?? "none" }).sorted().joined(separator: ", ")
    let methods = values("code_challenge_method")
    return "\(Set(methods).sorted().joined(separator: ", ")) ×\(methods.count), redirect to \(hosts)"
  }
}

/// A restart of the app after its access token has expired: the new process refreshes the token.
struct BrowserRestartScene: Scene {
  let title = "A restart of the app: it stays signed in, and refreshes by itself"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server, folder) = (world.stage, world.identity, world.browserAppFolder.path)
    let before = try await BrowserApp.started(in: folder, server: server.url()).tokens()
    world.identityClock.advance(by: .seconds(3600))
    stage.say("An hour later the access token has expired. The app starts again, as another process.")
    let name = try await restart(folder, in: world)
    let app = try await BrowserApp.started(in: folder, server: server.url())
    let after = try await app.tokens()
    stage.say("Without a browser, the account is \(name)'s. The tokens in the file are new, and the old ones useless.")
    try await app.signOut()
    try await showFailure(.rejected, on: stage) { try await app.accountName() }
    let tokens = [before, after].map { Server.fingerprint(of: .tokens($0)) }
    return [
      Claim(name: "oauth-restart", server: server, subject: "GET /accounts/me", expected: "401, 200, 401"),
      Claim(
        name: "oauth-tokens", server: server, subject: "GET /accounts/me",
        expected: (tokens + ["none"]).joined(separator: ", "),
        summary: { rows in rows.map { $0.credential ?? "none" }.joined(separator: ", ") }),
      Claim(name: "oauth-refresh", server: server, subject: "POST /token", expected: "200"),
      Claim(name: "no-second-sign-in", server: server, subject: "GET /authorize", expected: "nothing"),
      Claim(name: "oauth-revoked", server: server, subject: "POST /revoke", expected: "200 ×2"),
      .app("oauth-account", "account after the restart", expected: world.user.name, shown: name),
      .app(
        "rotated", "refresh token after the restart", expected: "another",
        shown: before.refresh == after.refresh ? "the same" : "another"),
    ]
  }

  /// Fetches the account in another process. If the demo cannot be run again, new objects are used in this process.
  private func restart(_ folder: String, in world: World) async throws -> String {
    let server = try world.identity.url()
    guard let runAgain = world.runAgain else {
      return try await BrowserApp.started(in: folder, server: server).accountName()
    }
    return try await runAgain(["--restore-sign-in", folder, "--base-url", "\(server)"])
  }
}
