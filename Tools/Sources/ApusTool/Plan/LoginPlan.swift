import Apus

/// What `apus login` keeps.
struct LoginPlan: Sendable, Hashable {
  var name: ProfileName
  var origin: Origin
  var account: Account

  /// Asks for the secret.
  var prompt: String {
    switch account {
    case .bearer: "Token for \(origin): "
    case .basic(let user), .digest(let user): "Password of \(user) for \(origin): "
    }
  }

  /// The server that a URL names.
  ///
  /// - Parameters:
  ///   - text: a URL without anything behind its host and port; a missing scheme is added.
  ///   - allowsPlainHTTP: whether the secret may go through networks for all to read.
  /// - Throws: ``PlanError``
  static func origin(of text: String, allowsPlainHTTP: Bool) throws(PlanError) -> Origin {
    let url: TargetURL
    do {
      url = try TargetURL(text, completesScheme: true)
    } catch {
      throw PlanError(error)
    }
    guard url.userInformation == nil else {
      throw PlanError("The URL holds a name or a password: take --basic USER, and enter the password when asked.")
    }
    guard url.target == "/" else {
      throw PlanError("Credentials are for a whole server: the URL ends with its host and port, as in \(url.origin).")
    }
    guard url.origin.scheme == "https" || url.isOfThisMachine || allowsPlainHTTP else {
      throw PlanError("\(url.origin) would be shown the secret unencrypted: take https, or --allow-plain-http.")
    }
    return url.origin
  }

  /// The account that the options tell of.
  ///
  /// - Throws: ``PlanError`` unless there is exactly one, with a name that users can have.
  static func account(bearer: Bool, basic: String?, digest: String?) throws(PlanError) -> Account {
    let account: Account
    switch (bearer, basic, digest) {
    case (true, nil, nil): account = .bearer
    case (false, let user?, nil): account = .basic(user: user)
    case (false, nil, let user?): account = .digest(user: user)
    default: throw PlanError("Say how the secret is shown, by one of --bearer, --basic USER and --digest USER.")
    }
    if let user = account.user, !Account.isUser(user) {
      throw PlanError("A user's name is not empty, with no colon and no control character; the password is asked for.")
    }
    return account
  }

  /// Looks at the secret.
  ///
  /// - Throws: ``InputError`` for one that no request could show.
  func check(_ secret: Secret) throws(InputError) {
    let isUsable =
      account.user == nil
      ? secret.value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
      : secret.value.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    guard isUsable else {
      throw InputError(place: "the \(account.secretName)", reason: "it holds a character that is not allowed")
    }
  }
}
