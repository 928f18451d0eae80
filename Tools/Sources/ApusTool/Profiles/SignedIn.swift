import Apus

/// A profile, and the credentials that were kept for it.
struct SignedIn: Sendable, Hashable {
  let profile: Profile
  let credential: Credential
}
