import AccountsService
public import Apus
import ApusCredentials
import ApusOAuth

/// An app whose user signs in with a browser, at an authorization server, and stays signed in: its tokens are in an
/// encrypted file.
public struct BrowserApp: Sendable {
  let oauth: OAuthClient
  let credentials: FileCredentialsStore
  let accounts: LiveAccountsService

  /// Starts the app: reads the server's metadata. Tokens that the app stored before are used.
  ///
  /// - Parameters:
  ///   - folder: contains the encrypted file and its key.
  ///   - server: the address of the server, which is the authorization server as well.
  /// - Throws: `OAuthError` of the discovery.
  public static func started(in folder: String, server: BaseURL) async throws -> BrowserApp {
    // Sends the requests to the authorization server.
    let plain = Client(baseURL: server) { $0.apply(.app) }
    let metadata = try await AuthorizationServer.discover("\(server)", using: plain)
    let oauth = OAuthClient(id: "demo-app", server: metadata, using: plain)
    let credentials = FileCredentialsStore(at: "\(folder)/session/credentials", key: .file("\(folder)/key"))
    let api = Client(baseURL: server) {
      $0.apply(.app)
      $0.authentication = .oauth(oauth, credentials)
    }
    let accounts = LiveAccountsService(client: api, credentials: credentials)
    return BrowserApp(oauth: oauth, credentials: credentials, accounts: accounts)
  }

  /// Signs a user in with a browser, and stores the tokens.
  func signIn(with browser: some AuthorizationBrowser) async throws {
    let grant = try await oauth.signIn(scopes: [], redirect: .loopback(), browser: browser)
    try await credentials.set(.tokens(grant.tokens))
  }

  /// Signs the user out: removes the tokens, then revokes them.
  func signOut() async throws { try await oauth.signOut(of: credentials) }

  /// Returns the name of the account that is signed in.
  public func accountName() async throws -> String { try await accounts.account().name }

  /// The tokens of the user who is signed in.
  ///
  /// - Throws: ``NotSignedIn``
  func tokens() async throws -> Tokens {
    guard case .tokens(let tokens)? = try await credentials.current().credential else { throw NotSignedIn() }
    return tokens
  }

  /// The error that the user is not signed in.
  struct NotSignedIn: Error, CustomStringConvertible {
    let description = "No user is signed in"
  }
}
