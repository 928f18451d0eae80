/// Keeps the credentials of one account: read for every attempt, replaced at sign-in, cleared at sign-out.
///
/// ``MemoryCredentials`` is one. A source of your own that keeps them in a file or a key chain should hold
/// them in memory as well: a call waits for the answer before each of its attempts.
public protocol CredentialSource: Sendable {
  /// The credentials there are now, and their generation.
  ///
  /// - Throws: any error. The call then throws `invalidRequest` with that error as its cause, and nothing is sent.
  func current() async throws -> StoredCredential
  /// Replaces the credentials: the next attempt of any call carries the new ones.
  func set(_ credential: Credential) async throws
  /// Removes the credentials: no later attempt carries them.
  func clear() async throws
  /// Tells who wants to know when ``StoredCredential/principal`` changes, so that streams end at once where somebody
  /// signs out. Default: `nil`. The change is noticed then by ``ApusCore/Client/signOut()``, and by the next call.
  var principalChanges: PrincipalChanges? { get }
}

extension CredentialSource {
  /// Nobody is told.
  public var principalChanges: PrincipalChanges? { nil }
}
