import Apus
import Backend

/// One backend, and what the apps need to talk to it.
struct Server: Sendable {
  /// What it is called.
  let name: String
  /// A client that stays with this server.
  let client: Client
  /// The token of whoever is signed in there.
  let tokens: MemoryCredentials
  /// What arrived there.
  let log: any ServerLog

  /// Makes a server of its address.
  init(_ name: String, at baseURL: BaseURL, log: any ServerLog) {
    let tokens = MemoryCredentials()
    self.name = name
    self.tokens = tokens
    self.log = log
    client = Client(baseURL: baseURL) {
      $0.environment.name = name
      $0.authentication = .bearer(tokens)
    }
  }

  /// What the log shows of the token; `none` when nobody is signed in.
  var fingerprint: String {
    guard case .token(let token)? = tokens.current().credential else { return "none" }
    return "bearer:\(Backend.fingerprint(of: token.value))"
  }
}
