public import Apus

/// The accounts of one server.
///
/// The client must stay with that server: the tokens that a sign-in gives belong to it. A client that is switched to
/// another server needs another service, with credentials of their own.
public actor LiveAccountsService: AccountsService {
  private let client: Client
  private let credentials: MemoryCredentials
  /// Kept apart: it is sent to renew the session and for nothing else.
  private var refreshToken: Secret?

  /// Makes the service.
  ///
  /// - Parameters:
  ///   - client: talks to the server.
  ///   - credentials: where the client takes its token from: filled at sign-in, emptied at sign-out.
  public init(client: Client, credentials: MemoryCredentials) {
    self.client = client
    self.credentials = credentials
  }

  /// Sends the form.
  public func signUp(_ form: SignUpForm) async throws(CallError) -> Outcome<Account, SignUpRejection> {
    try await client.outcome(of: SignUp(form: form), rejectedAs: SignUpRejection.self)
  }

  /// Fetches tokens and keeps them.
  public func signIn(email: String, password: Secret) async throws(CallError) {
    keep(try await client.send(SignIn(email: email, password: password)))
  }

  /// Fetches the account.
  public func account() async throws(CallError) -> Account {
    try await client.send(GetAccount())
  }

  /// Exchanges the refresh token for new tokens. One that was signed out meanwhile stays signed out.
  public func refresh() async throws(CallError) -> Bool {
    guard let token = refreshToken else { return false }
    let tokens = try await client.send(RefreshSession(token: token))
    guard refreshToken == token else { return false }
    keep(tokens)
    return true
  }

  /// Ends the session on the server, and here in any case.
  public func signOut() async throws(CallError) {
    let token = refreshToken
    defer {
      // Somebody who signed in while the server was told stays signed in.
      if refreshToken == token {
        refreshToken = nil
        credentials.clear()
      }
    }
    try await client.send(SignOut())
  }

  private func keep(_ tokens: Tokens) {
    refreshToken = Secret(tokens.refreshToken)
    credentials.set(token: tokens.accessToken)
  }
}
