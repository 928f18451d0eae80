import AccountsService
import Apus
import ApusCredentials
import ApusOAuth
import Backend
import Testing

@testable import Demo

/// An app that signs in with a browser, at the backend's authorization server.
@Suite struct BrowserAppTests {
  /// A backend whose clock is advanced by the test, with the account of Ada, and the app's files.
  private struct Site {
    let backend: Backend
    let clock: AdvancingClock
    let folder: TemporaryFolder

    /// Starts the app without the objects in memory of an earlier start.
    func app() async throws -> BrowserApp {
      try await BrowserApp.started(in: folder.path, server: try BaseURL(backend.baseURL))
    }

    /// Starts the app and signs Ada in.
    func signedIn() async throws -> BrowserApp {
      let app = try await app()
      try await app.signIn(
        with: ScriptedBrowser(.signIn(email: "ada@example.com", password: "correct horse")))
      return app
    }

    /// Returns the statuses of the requests to a path.
    func statuses(_ path: String) -> [Int?] { backend.log.rows { $0.path == path }.map(\.status) }
  }

  private func withSite(_ test: (Site) async throws -> Void) async throws {
    let clock = AdvancingClock()
    var options = Backend.Options()
    options.passwordHashRounds = 2
    options.now = { clock.now }
    let backend = try await Backend.start(options)
    let folder = try TemporaryFolder()
    defer { folder.remove() }
    do {
      let client = Client(baseURL: try BaseURL(backend.baseURL))
      let accounts = LiveAccountsService(client: client, credentials: MemoryCredentialsStore())
      _ = try await accounts.signUp(SignUpForm(name: "Ada", email: "ada@example.com", password: "correct horse"))
      try await test(Site(backend: backend, clock: clock, folder: folder))
    } catch {
      await backend.stop()
      throw error
    }
    await backend.stop()
  }

  @Test("A restarted app is signed in without a browser, and two hundred calls refresh once")
  func restart() async throws {
    try await withSite { site in
      let before = try await site.signedIn().tokens()
      site.clock.advance(by: .seconds(3600))
      let app = try await site.app()
      let names = try await withThrowingTaskGroup(of: String.self) { group in
        for _ in 0..<200 { group.addTask { try await app.accountName() } }
        return try await group.reduce(into: Set()) { $0.insert($1) }
      }
      #expect(names == ["Ada"])
      #expect(site.statuses("/token") == [200, 200])
      #expect(site.statuses("/authorize") == [200, 303])
      #expect(try await app.tokens().refresh != before.refresh)
    }
  }

  @Test("Reuse of a superseded refresh token ends the session for its user and for the thief")
  func theft() async throws {
    try await withSite { site in
      let app = try await site.signedIn()
      let stolen = try await app.tokens()
      site.clock.advance(by: .seconds(3600))
      #expect(try await app.accountName() == "Ada")
      let refused = await #expect(throws: OAuthError.self) { try await app.oauth.refreshed(stolen) }
      #expect(refused?.code == .invalidGrant)
      let ended = await #expect(throws: CallError.self) { try await app.accountName() }
      #expect(ended?.sessionEnd == .expired)
      #expect(try await app.credentials.current().credential == nil)
    }
  }

  @Test("A sign-out removes the tokens and revokes them")
  func signOut() async throws {
    try await withSite { site in
      let app = try await site.signedIn()
      let tokens = try await app.tokens()
      try await app.signOut()
      await #expect(throws: BrowserApp.NotSignedIn.self) { try await site.app().tokens() }
      await #expect(throws: OAuthError.self) { try await app.oauth.refreshed(tokens) }
      #expect(site.statuses("/revoke") == [200, 200])
    }
  }

  @Test("A wrong password and a cancelled sign-in store no tokens")
  func cancelled() async throws {
    try await withSite { site in
      let app = try await site.app()
      let error = await #expect(throws: OAuthError.self) { try await app.signIn(with: ScriptedBrowser(.cancel)) }
      #expect(error?.isCancellation == true)
      let wrong = ScriptedBrowser(.signIn(email: "ada@example.com", password: "wrong"))
      let refused = await #expect(throws: OAuthError.self) { try await app.signIn(with: wrong) }
      #expect(refused?.code == .browserFailed && (refused?.underlying as? CallError)?.status == 403)
      #expect(try await app.credentials.current().credential == nil)
      #expect(site.statuses("/token") == [])
    }
  }

  @Test("The scripted browser rejects a page without a sign-in form")
  func otherPage() async throws {
    try await withSite { site in
      await #expect(throws: ScriptedBrowser.UnexpectedPage.self) {
        try await ScriptedBrowser(.cancel).open(site.backend.baseURL + "/", redirect: "")
      }
    }
  }
}
