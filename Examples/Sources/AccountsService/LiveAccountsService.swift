public import Apus

extension Authentication {
  /// Returns an authentication with the bearer tokens of a sign-in. The account server's refresh endpoint refreshes the
  /// tokens.
  ///
  /// Clients that share one value share its tokens and refreshes.
  ///
  /// - Parameter tokens: the store; filled at sign-in, emptied at sign-out and when the server rejects a refresh.
  public static func accounts(_ tokens: any RefreshableCredentialsStore) -> Authentication {
    .bearer(tokens) { refresh in try await refresh.send(RefreshSession(token: refresh.token)) }
  }
}

/// The accounts of one server.
///
/// The client must not be switched to another server, because the tokens of a sign-in belong to one server. A second
/// server needs a second service with its own credentials store.
///
/// ```swift
/// let tokens = MemoryCredentialsStore()
/// let client = Client(baseURL: "https://api.example.com") { $0.authentication = .accounts(tokens) }
/// let accounts = LiveAccountsService(client: client, credentials: tokens)
/// ```
public struct LiveAccountsService: AccountsService {
  let client: Client
  private let credentials: any RefreshableCredentialsStore

  /// Creates the service.
  ///
  /// - Parameters:
  ///   - client: calls the server; configured with `Authentication.accounts(_:)`.
  ///   - credentials: the store passed to `Authentication.accounts(_:)`. An encrypted file keeps the user signed in
  ///     when the app restarts.
  public init(client: Client, credentials: any RefreshableCredentialsStore) {
    self.client = client
    self.credentials = credentials
  }

  /// Sends the form.
  public func signUp(_ form: SignUpForm) async throws(CallError) -> Outcome<Account, SignUpRejection> {
    try await client.outcome(of: SignUp(form: form), rejectedAs: SignUpRejection.self)
  }

  /// Requests tokens and stores them.
  public func signIn(email: String, password: Secret) async throws(CallError) {
    let tokens = try await client.send(SignIn(email: email, password: password))
    do {
      try await credentials.set(.tokens(tokens))
    } catch {
      throw CallError(converting: error)
    }
  }

  /// Fetches the account.
  public func account() async throws(CallError) -> Account {
    try await client.send(GetAccount())
  }

  /// Removes the tokens, then ends the session on the server.
  public func signOut() async throws(CallError) {
    let token: Secret?
    do {
      token = try await refreshToken()
      // The tokens are removed locally first: the server may be slow, and a refresh in flight must find no session to
      // write to.
      try await client.signOut()
    } catch {
      throw CallError(converting: error)
    }
    if let token { try await client.send(SignOut(token: token)) }
  }

  private func refreshToken() async throws -> Secret? {
    guard case .tokens(let tokens)? = try await credentials.current().credential else { return nil }
    return tokens.refresh
  }
}
