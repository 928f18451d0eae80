/// A store of a credential that does not change: an API key, or the token of a service.
///
/// A sign-out does not remove the credential: the app could not set it again.
struct FixedCredential: CredentialsStore {
  private let credential: Credential

  init(_ credential: Credential) {
    self.credential = credential
  }

  func current() -> StoredCredential { StoredCredential(credential, generation: 0, principal: 0) }

  func set(_ credential: Credential) {}

  func clear() {}
}
