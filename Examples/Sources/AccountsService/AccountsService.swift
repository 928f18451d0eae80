public import Apus

/// The app's interface for signing up, in and out. It hides tokens and their refresh.
///
/// ``LiveAccountsService`` calls the server; previews and tests use fakes.
public protocol AccountsService: Sendable {
  /// Creates an account. Returns a rejected form as a value; throws only when the call itself fails.
  func signUp(_ form: SignUpForm) async throws(CallError) -> Outcome<Account, SignUpRejection>

  /// Signs a user in. Later calls carry this user's tokens until the user signs out or the session expires.
  func signIn(email: String, password: Secret) async throws(CallError)

  /// Returns the account that is signed in.
  func account() async throws(CallError) -> Account

  /// Uploads an image as the user's avatar.
  ///
  /// - Parameters:
  ///   - path: the path of the image file.
  ///   - progress: reports the progress of the upload.
  func uploadAvatar(from path: String, progress: ProgressReporter) async throws(CallError) -> Avatar

  /// Signs out: first locally, then on the server. Throws if the call to the server fails.
  func signOut() async throws(CallError)
}
