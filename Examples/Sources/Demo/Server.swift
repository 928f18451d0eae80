import AccountsService
import Apus
import Backend

/// One backend, and what the apps need to talk to it.
struct Server: Sendable {
  /// What it is called.
  let name: String
  /// A client that stays with this server.
  let client: Client
  /// The tokens of whoever is signed in there.
  let tokens: MemoryCredentials
  /// How often an app was told that its session has expired there.
  let endedSessions = Tally()
  /// What arrived there.
  let log: any ServerLog

  /// Makes a server of its address.
  init(_ name: String, at baseURL: BaseURL, log: any ServerLog) {
    let tokens = MemoryCredentials()
    let endedSessions = endedSessions
    self.name = name
    self.tokens = tokens
    self.log = log
    client = Client(baseURL: baseURL) {
      $0.suit(.app)
      $0.environment.name = name
      $0.authentication = .accounts(tokens)
      $0.onSessionEnd = { end in if end.reason == .expired { endedSessions.add() } }
    }
  }

  /// The address of something on it.
  ///
  /// - Parameter path: what is added to the server's own. Default: nothing.
  func url(_ path: String = "") throws -> BaseURL {
    try BaseURL("\(client.environment.baseURL)\(path)")
  }

  /// What the log shows of the access token; `none` when nobody is signed in.
  var fingerprint: String {
    guard case .tokens(let tokens)? = tokens.current().credential else { return "none" }
    return "bearer:\(Backend.fingerprint(of: tokens.access.value))"
  }
}
