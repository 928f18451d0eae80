import AccountsService
public import Apus
import ApusCredentials
import Foundation

/// A sign-up form, first invalid, then corrected.
struct SignUpScene: Scene {
  let title = "Sign-up: an invalid form, then a corrected one"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    var form = SignUpForm(name: world.user.name, email: "ada", password: "short")
    stage.say("Ada sends the form …")
    if case .rejected(let rejection) = try await world.accounts.signUp(form) {
      for error in rejection.errors { stage.reads("\(error.field) \(error.message)", cause: "beside the input") }
    }
    form.email = world.user.email
    form.password = world.user.password
    stage.say("… and corrects it.")
    if case .accepted(let account) = try await world.accounts.signUp(form) {
      stage.say("Welcome, \(account.name)!")
    }
    return [Claim(name: "sign-up", server: world.staging, subject: "POST /accounts", expected: "422, 201")]
  }
}

/// A sign-in with a wrong password, then with the right password, after which calls carry the user's token.
struct SignInScene: Scene {
  let title = "Sign-in: a wrong password, then the right one"

  func play(in world: World) async throws -> [Claim] {
    let stage = world.stage
    try await showFailure(.rejected, on: stage) {
      try await world.accounts.signIn(email: world.user.email, password: "correct hose")
    }
    try await world.accounts.signIn(email: world.user.email, password: world.user.password)
    let account = try await world.accounts.account()
    stage.say("Signed in as \(account.name).")
    stage.note("the app never sees the token; the server's log shows its fingerprint, \(world.staging.fingerprint)")
    return [
      Claim(name: "sign-in", server: world.staging, subject: "POST /sessions", expected: "401, 201"),
      Claim(
        name: "signed-in-as", server: world.staging, subject: "GET /accounts/me", expected: world.staging.fingerprint,
        summary: Claim.credentials),
    ]
  }
}

/// Credentials in an encrypted file: the app restarts, as a second process, and the user is still signed in.
struct StoredSessionScene: Scene {
  let title = "A stored session: the app restarts, and Ada is still signed in"

  func play(in world: World) async throws -> [Claim] {
    let (stage, server) = (world.stage, world.staging)
    let app = try RestartableApp.temporary(server: server.url())
    defer { app.removeFiles() }
    try await app.accounts.signIn(email: world.user.email, password: world.user.password)
    let credential = try await app.credentials.current().credential
    let file = try app.readFile()
    stage.say("Ada signs in; her tokens are in an encrypted file (\(file.count) bytes, AES-256-GCM).")
    stage.note("its mode is \(try app.fileMode()), and it contains no token in clear text")
    let name = try await restart(app, in: world)
    stage.say("The app quits and starts again. Without a sign-in, the account is \(name)'s.")
    try await app.accounts.signOut()
    let left = try await app.reopened().credentials.current().credential
    stage.say("Ada signs out; after another start there is \(left == nil ? "no session" : "still a session").")
    return [
      Claim(name: "stored-session", server: server, subject: "POST /sessions", expected: "201"),
      Claim(
        name: "after-restart", server: server, subject: "GET /accounts/me",
        expected: Server.fingerprint(of: credential), summary: Claim.credentials),
      .app(
        "encrypted-file", "a token in the clear in the file", expected: "no",
        shown: app.exposes(credential, in: file) ? "yes" : "no"),
      .app("restored-account", "account after a restart", expected: world.user.name, shown: name),
      .app("no-session-left", "session after a sign-out", expected: "none", shown: left == nil ? "none" : "one"),
    ]
  }

  /// Fetches the account in another process. If the demo cannot be run again, new objects are used in this process.
  private func restart(_ app: RestartableApp, in world: World) async throws -> String {
    guard let runAgain = world.runAgain else { return try await app.reopened().accounts.account().name }
    return try await runAgain(app.arguments)
  }
}

/// An app that stores its session in an encrypted file.
public struct RestartableApp: Sendable {
  private let folder: String
  private let server: BaseURL
  let credentials: FileCredentialsStore
  let accounts: LiveAccountsService

  /// Opens the app's files.
  ///
  /// - Parameters:
  ///   - folder: contains the encrypted file and its key.
  ///   - server: the address of the accounts server.
  public init(folder: String, server: BaseURL) {
    let credentials = FileCredentialsStore(at: "\(folder)/session/credentials", key: .file("\(folder)/key"))
    self.folder = folder
    self.server = server
    self.credentials = credentials
    accounts = LiveAccountsService(
      client: Client(baseURL: server) {
        $0.apply(.app)
        $0.authentication = .accounts(credentials)
      }, credentials: credentials)
  }

  /// Opens the app in a new temporary folder.
  static func temporary(server: BaseURL) throws -> RestartableApp {
    RestartableApp(folder: try TemporaryFolder().path, server: server)
  }

  /// The arguments with which the demo's program prints ``accountName()`` and exits.
  var arguments: [String] { ["--restore-session", folder, "--base-url", "\(server)"] }

  /// Returns the name of the account that is signed in.
  public func accountName() async throws -> String { try await accounts.account().name }

  /// Opens the same files again, without the objects in memory.
  func reopened() -> RestartableApp { RestartableApp(folder: folder, server: server) }

  func readFile() throws -> Data { try Data(contentsOf: URL(fileURLWithPath: "\(folder)/session/credentials")) }

  /// The mode of the file in octal digits.
  func fileMode() throws -> String {
    var facts = stat()
    guard stat("\(folder)/session/credentials", &facts) == 0 else { throw CocoaError(.fileReadNoSuchFile) }
    return String(facts.st_mode & 0o777, radix: 8)
  }

  /// Whether bytes contain a token in clear text.
  func exposes(_ credential: Credential?, in file: Data) -> Bool {
    guard case .tokens(let tokens)? = credential else { return false }
    return [tokens.access, tokens.refresh].compactMap(\.self).contains { file.range(of: Data($0.value.utf8)) != nil }
  }

  func removeFiles() {
    // If this fails, the system removes the temporary folder later.
    try? FileManager.default.removeItem(atPath: folder)
  }
}
