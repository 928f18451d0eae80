import AccountsService
import Apus
import Backend

/// A backend, and an app's connection to it.
struct Server: Sendable {
  /// The server's name.
  let name: String
  /// The server's address, for display.
  var address: String { "\(client.environment.baseURL)" }
  /// A client of this server, authenticated by ``tokens``.
  let client: Client
  /// The tokens of the user who is signed in.
  let tokens: MemoryCredentialsStore
  /// The server's API key.
  let apiKey: String
  /// The number of sessions whose expiry was reported to the app.
  let endedSessions = Tally()
  /// The server's log.
  let log: any ServerLog

  init(_ name: String, at baseURL: BaseURL, apiKey: String = "demo-key", log: any ServerLog) {
    let tokens = MemoryCredentialsStore()
    let endedSessions = endedSessions
    self.name = name
    self.tokens = tokens
    self.apiKey = apiKey
    self.log = log
    client = Client(baseURL: baseURL) {
      $0.apply(.app)
      $0.environment.name = name
      $0.authentication = .accounts(tokens)
      $0.onSessionEnd = { end in if end.reason == .expired { endedSessions.add() } }
    }
  }

  /// Returns the address of a path on the server.
  ///
  /// - Parameter path: appended to the server's address. Default: empty.
  func url(_ path: String = "") throws -> BaseURL {
    try BaseURL("\(client.environment.baseURL)\(path)")
  }

  /// The access token's fingerprint in the log; `none` while the client is signed out.
  var fingerprint: String {
    Self.fingerprint(of: tokens.current().credential)
  }

  /// The API key's fingerprint in the log.
  var keyFingerprint: String { "api_key:\(Backend.fingerprint(of: apiKey))" }

  /// Returns an access token's fingerprint in the log; `none` for other credentials.
  static func fingerprint(of credential: Credential?) -> String {
    guard case .tokens(let tokens)? = credential else { return "none" }
    return "bearer:\(Backend.fingerprint(of: tokens.access.value))"
  }
}

extension Server {
  /// The error of a running backend that responds so fast that calls in flight cannot be cancelled.
  struct TooFast: Error, CustomStringConvertible {
    let address: String
    var description: String {
      "The backend at \(address) responds too fast to show calls in flight. Start it with --latency 150."
    }
  }

  /// Connects to a running backend.
  ///
  /// - Throws: ``TooFast``; `BaseURL.ParseError`; `CallError` when the backend cannot be reached.
  static func running(_ name: String, at address: String, apiKey: String) async throws -> Server {
    let baseURL = try BaseURL(address)
    let server = Server(name, at: baseURL, apiKey: apiKey, log: RemoteLog(at: baseURL))
    let latency: Int = try await server.client.send(.get("/").at("latency_ms"))
    guard latency >= 50 else { throw TooFast(address: address) }
    return server
  }
}
