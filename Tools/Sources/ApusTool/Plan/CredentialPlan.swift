import Apus

/// Who calls.
enum CredentialPlan: Sendable, Hashable {
  case bearer(Secret)
  case basic(user: String, Secret)
  /// Kept by `apus login`.
  case profile(SignedIn)

  /// Reads `USER:PASSWORD`.
  ///
  /// - Throws: ``PlanError`` when there is no colon.
  init(basic text: String) throws(PlanError) {
    guard let colon = text.firstIndex(of: ":") else { throw PlanError("--basic takes USER:PASSWORD.") }
    self = .basic(user: String(text[..<colon]), Secret(String(text[text.index(after: colon)...])))
  }

  /// What stands before `@` in a URL.
  init(userInformation: String) {
    let parts = userInformation.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    self = .basic(user: String(parts.first ?? ""), Secret(parts.count > 1 ? String(parts[1]) : ""))
  }

  /// The value of an option that holds a secret: the text itself, or `@FILE`, which keeps it out of the list of
  /// processes.
  ///
  /// - Throws: ``InputError``
  static func secretText(_ value: String) throws(InputError) -> String {
    value.hasPrefix("@") ? try InputFile.text(String(value.dropFirst())) : value
  }

  /// The only origin they may go to; `nil`: the one of the URL, whichever that is.
  var origin: Origin? {
    if case .profile(let signedIn) = self { signedIn.profile.origin } else { nil }
  }

  /// Looks whether they may go where a URL leads.
  ///
  /// - Throws: ``ProfileError/otherOrigin(_:own:asked:)``
  func check(_ origin: Origin) throws(ProfileError) {
    guard case .profile(let signedIn) = self, signedIn.profile.origin != origin else { return }
    throw ProfileError.otherOrigin(signedIn.profile.name, own: signedIn.profile.origin, asked: origin)
  }

  /// As clients take it; it goes to the origin of the URL alone.
  var authentication: Authentication {
    switch self {
    case .bearer(let token): .bearer(MemoryCredentials(.token(token)))
    case .basic(let user, let password): .basic(MemoryCredentials(.password(user: user, password)))
    case .profile(let signedIn): signedIn.authentication
    }
  }
}
