public import Apus

/// The accounts of one server.
///
/// The client must stay with that server: the tokens that a sign-in gives belong to it. A client that is switched to
/// another server needs another service, with credentials of their own.
///
/// ```swift
/// let tokens = MemoryCredentials()
/// let client = Client(baseURL: "https://api.example.com") { $0.authentication = .accounts(tokens) }
/// let accounts = LiveAccountsService(client: client, credentials: tokens)
/// ```
public struct LiveAccountsService: AccountsService {
  private let client: Client
  private let credentials: MemoryCredentials

  /// Makes the service.
  ///
  /// - Parameters:
  ///   - client: talks to the server, with `Authentication.accounts(_:)`.
  ///   - credentials: what that takes its tokens from: filled at sign-in.
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
    credentials.set(try await client.send(SignIn(email: email, password: password)))
  }

  /// Fetches the account.
  public func account() async throws(CallError) -> Account {
    try await client.send(GetAccount())
  }

  /// Forgets the tokens, then ends the session on the server.
  public func signOut() async throws(CallError) {
    var token: Secret?
    if case .tokens(let tokens)? = credentials.current().credential { token = tokens.refresh }
    // Here first: the server may be slow, and what a refresh under way gives must find nobody signed in. Credentials in
    // memory cannot fail to go.
    try? await client.signOut()
    if let token { try await client.send(SignOut(token: token)) }
  }
}
