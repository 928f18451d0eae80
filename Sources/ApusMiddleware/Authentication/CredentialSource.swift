/// Keeps the credentials of one account: read for every attempt, replaced at sign-in, cleared at sign-out.
public protocol CredentialSource: Sendable {
  /// The credentials there are now; `nil` when signed out.
  func credential() async throws -> StoredCredential?
  /// Replaces the credentials.
  func set(_ credential: Credential) async throws
  /// Removes the credentials: no later call carries them.
  func clear() async throws
}

/// Credentials and the count of how often they were replaced, which tells new ones from old ones.
public struct StoredCredential: Sendable, Hashable {
  /// The credentials.
  public let credential: Credential
  /// Goes up each time the source's credentials are replaced or cleared.
  public let generation: UInt64

  /// Makes a stored credential; for sources of your own.
  public init(_ credential: Credential, generation: UInt64) {
    self.credential = credential
    self.generation = generation
  }
}
