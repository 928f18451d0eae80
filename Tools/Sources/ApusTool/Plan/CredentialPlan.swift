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
    guard let (user, password) = text.splitAtFirst(":") else { throw PlanError("--basic takes USER:PASSWORD.") }
    self = .basic(user: user, Secret(password))
  }

  /// What stands before `@` in a URL.
  init(_ userInformation: TargetURL.UserInformation) {
    self = .basic(user: userInformation.user, userInformation.password)
  }

  /// The value of an option that holds a secret: the text itself, or `@FILE`, which keeps it out of the list of
  /// processes.
  ///
  /// - Throws: ``InputError``
  static func secretText(_ value: String) throws(InputError) -> String {
    try value.fileName.map { name throws(InputError) in try InputFile.text(name) } ?? value
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
