public import Apus

/// Signing up, in and out, as the app sees it. Tokens and their refresh stay hidden.
///
/// ``LiveAccountsService`` calls the server; previews and tests conform types of their own.
public protocol AccountsService: Sendable {
  /// Creates an account. Returns a rejected form as a value; throws only when the call itself fails.
  func signUp(_ form: SignUpForm) async throws(CallError) -> Outcome<Account, SignUpRejection>

  /// Signs a user in. Later calls carry this user's tokens until the user signs out or the session expires.
  func signIn(email: String, password: Secret) async throws(CallError)

  /// Returns the account that is signed in.
  func account() async throws(CallError) -> Account

  /// Signs out: locally at once, then on the server. Throws when the server could not be told.
  func signOut() async throws(CallError)
}
