public import Apus

/// Signing up, in and out, as the app sees it: tokens never come into its sight.
///
/// ``LiveAccountsService`` asks the server; a preview or a test writes its own.
public protocol AccountsService: Sendable {
  /// Makes an account; a form that is not accepted is a value and no error.
  func signUp(_ form: SignUpForm) async throws(CallError) -> Outcome<Account, SignUpRejection>

  /// Signs in: calls made from now on are this person's.
  func signIn(email: String, password: Secret) async throws(CallError)

  /// Who is signed in.
  func account() async throws(CallError) -> Account

  /// Renews the session before or after it expires; `false` when there is none to renew.
  func refresh() async throws(CallError) -> Bool

  /// Signs out. The person is signed out here whatever the server says; it throws when the server could not be told.
  func signOut() async throws(CallError)
}
