public import Apus

/// Signing up, in and out, as the app sees it: tokens never come into its sight, nor that they are refreshed.
///
/// ``LiveAccountsService`` asks the server; a preview or a test writes its own.
public protocol AccountsService: Sendable {
  /// Makes an account; a form that is not accepted is a value and no error.
  func signUp(_ form: SignUpForm) async throws(CallError) -> Outcome<Account, SignUpRejection>

  /// Signs in: calls made from now on are this person's, until she signs out or the server wants her to sign in again.
  func signIn(email: String, password: Secret) async throws(CallError)

  /// Who is signed in.
  func account() async throws(CallError) -> Account

  /// Signs out: at once here, whatever the server says. It throws when the server could not be told.
  func signOut() async throws(CallError)
}
