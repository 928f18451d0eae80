import Apus

/// The credentials of a command.
enum CredentialPlan: Sendable, Hashable {
  case bearer(Secret)
  case basic(user: String, Secret)
  /// A profile stored by `apus login`.
  case profile(SignedIn)

  /// Parses `USER:PASSWORD`.
  ///
  /// - Throws: ``PlanError`` without a colon.
  init(basic text: String) throws(PlanError) {
    guard let (user, password) = text.splitAtFirst(":") else { throw PlanError("--basic takes USER:PASSWORD.") }
    self = .basic(user: user, Secret(password))
  }

  /// Creates credentials from the user information of a URL.
  init(_ userInformation: TargetURL.UserInformation) {
    self = .basic(user: userInformation.user, userInformation.password)
  }

  /// Returns the secret of an option: the text itself, or the content of `@FILE`. With a file the secret is not in the
  /// process list.
  ///
  /// - Throws: ``InputError``
  static func secretText(_ value: String) throws(InputError) -> String {
    try value.fileName.map { name throws(InputError) in try InputFile.text(name) } ?? value
  }

  /// The only origin for the credentials; `nil` for the URL's origin.
  var origin: Origin? {
    if case .profile(let signedIn) = self { signedIn.profile.origin } else { nil }
  }

  /// Checks that the credentials may be sent to an origin.
  ///
  /// - Throws: ``ProfileError/otherOrigin(_:own:requested:)``
  func check(_ origin: Origin) throws(ProfileError) {
    guard case .profile(let signedIn) = self, signedIn.profile.origin != origin else { return }
    throw ProfileError.otherOrigin(signedIn.profile.name, own: signedIn.profile.origin, requested: origin)
  }

  /// Returns the authentication of a client. Credentials are sent only to the client's origin.
  ///
  /// - Parameter transport: the transport to an authorization server.
  /// - Throws: `BaseURL.ParseError`
  func authentication(over transport: any Transport) throws -> Authentication {
    switch self {
    case .bearer(let token): .bearer(token.value)
    case .basic(let user, let password): .basic(user: user, password: password.value)
    case .profile(let signedIn): try signedIn.authentication(over: transport)
    }
  }
}
