import Apus
import ApusCredentials
import ApusOAuth
import Foundation
import HTTPTypes
import Testing

@testable import ApusTool

@Suite("Storing sign-ins at authorization servers")
final class OAuthSessionTests {
  private let folder = FileManager.default.temporaryDirectory.appending(path: "sessions-\(UUID())").path

  private var store: ProfileStore { ProfileStore(folder: ProfileFolder(path: folder)) }

  deinit {
    try? FileManager.default.removeItem(atPath: folder)
  }

  private func session(_ client: String = "app") throws -> OAuthSession {
    var server = AuthorizationServer(issuer: "https://id.example", tokenEndpoint: "https://id.example/token")
    server.revocationEndpoint = "https://id.example/revoke"
    let sender = Client(baseURL: "https://id.example")
    return OAuthSession(OAuthClient(id: client, server: server, using: sender), secret: "client-secret")
  }

  private func profile(_ name: String, _ user: String? = "ada") throws -> Profile {
    Profile(
      try ProfileName(name), origin: Origin(scheme: "https", host: "h.example", port: 443),
      account: .oauth(user: user), since: Date(timeIntervalSince1970: 1_700_000_000))
  }

  private func signIn(_ profile: Profile, _ access: Secret = "access") async throws {
    try await store.signIn(profile, with: try session().encoded(), Tokens(access: access, refresh: "refresh"))
  }

  @Test("A session is decoded unchanged, and creates the client that refreshes and revokes")
  func round() throws {
    let session = try session()
    #expect(OAuthSession(try session.encoded()) == session)
    let client = session.client(using: Client(baseURL: "https://id.example"))
    #expect(client.id == "app" && client.server.issuer == "https://id.example")
    #expect(client.server.tokenEndpoint == "https://id.example/token")
    #expect(client.server.revocationEndpoint == "https://id.example/revoke")
    #expect(client.authentication.description == "client_secret_basic")
    #expect(OAuthSession("{}") == nil && OAuthSession("secret") == nil)
  }

  @Test("Stored tokens are read by another store, and changed in place")
  func keeping() async throws {
    let work = try profile("work")
    try await signIn(work)
    let credentials = try await ProfileStore(folder: ProfileFolder(path: folder)).signedIn(work.name).credentials
    guard case .oauth(let session, let file) = credentials else {
      Issue.record("no session")
      return
    }
    #expect(try session == self.session())
    let tokens = file.tokens
    let generation = try await tokens.current().generation
    #expect(try await tokens.refresh(generation, to: .tokens(Tokens(access: "access-2", refresh: "refresh-2"))))
    #expect(try await store.signedIn(work.name).credentials == credentials)
    #expect(try await file.tokens.current().credential == .tokens(Tokens(access: "access-2", refresh: "refresh-2")))
  }

  @Test("Tokens of another profile, and tokens of a changed profile, are not sent")
  func misplaced() async throws {
    let (work, home) = (try profile("work"), try profile("home"))
    try await signIn(work, "one")
    try await signIn(home, "two")
    let folder = store.folder
    let (mine, other) = (
      folder.tokens(of: work.name, login: work.login), folder.tokens(of: home.name, login: home.login)
    )
    let own = try Data(contentsOf: URL(filePath: mine))
    try Data(contentsOf: URL(filePath: other)).write(to: URL(filePath: mine))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: mine)
    let damaged = ProfileError.damaged(
      work.name, path: folder.profile(work.name), reason: "its credentials belong to something else")
    await #expect(throws: damaged) { try await store.signedIn(work.name) }
    try own.write(to: URL(filePath: mine))
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: mine)
    _ = try await store.signedIn(work.name)
    let path = folder.profile(work.name)
    let text = try String(contentsOfFile: path, encoding: .utf8).replacing("h.example", with: "evil.example")
    try Data(text.utf8).write(to: URL(filePath: path))
    await #expect(throws: damaged) { try await store.signedIn(work.name) }
  }

  @Test("A sign-in whose tokens were removed is signed out")
  func ended() async throws {
    let work = try profile("work", nil)
    try await signIn(work)
    guard case .oauth(_, let file) = try await store.signedIn(work.name).credentials else {
      Issue.record("no session")
      return
    }
    try await file.tokens.clear()
    await #expect(throws: ProfileError.signedOut(work.name, work.origin)) { try await store.signedIn(work.name) }
  }

  @Test("A pin without a host applies to the authorization server")
  func pins() async throws {
    var connection = ConnectionPlan()
    connection.pins = [Pin("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=")]
    _ = try await connection.client(ofAuthorizationServer: "https://id.example/token")
    await #expect(throws: TargetURL.Malformed.self) {
      try await connection.client(ofAuthorizationServer: "id.example")
    }
  }

  @Test("The name of an account is the most readable claim that is safe for a terminal")
  func names() {
    #expect(Account.isName("ada@example.com") && Account.isName("auth0|7") && !Account.isName(""))
    #expect(!Account.isName("a\u{1B}[2J") && !Account.isName(String(repeating: "a", count: 257)))
  }
}
