import Apus

/// The credentials that `apus login` stores.
struct LoginPlan: Sendable, Hashable {
  var name: ProfileName
  var origin: Origin
  var account: Account

  /// The prompt for the secret.
  var prompt: String {
    account.user.map { "Password of \($0) for \(origin): " } ?? "Token for \(origin): "
  }

  /// Returns the origin of a server's URL.
  ///
  /// - Parameters:
  ///   - text: a URL that ends with its host and port; a missing scheme is added.
  ///   - allowsPlainHTTP: whether the secret may be sent unencrypted to another machine.
  /// - Throws: ``PlanError``
  static func origin(of text: String, allowsPlainHTTP: Bool) throws(PlanError) -> Origin {
    let url: TargetURL
    do {
      url = try TargetURL(text, completesScheme: true)
    } catch {
      throw PlanError(error)
    }
    guard url.userInformation == nil else {
      throw PlanError("The URL contains a name or a password: use --basic USER and enter the password when prompted.")
    }
    guard url.target == "/" else {
      throw PlanError(
        "Credentials are for a whole server: the URL must end with host and port, for example \(url.origin).")
    }
    guard url.origin.scheme == "https" || url.isOfThisMachine || allowsPlainHTTP else {
      throw PlanError("\(url.origin) would receive the secret unencrypted: use https, or --allow-plain-http.")
    }
    return url.origin
  }

  static let ambiguous = PlanError("Choose one of --bearer, --basic USER, --digest USER and --oauth ISSUER.")

  /// Returns the account that the options describe.
  ///
  /// - Throws: ``PlanError`` unless there is exactly one account, with a valid user name.
  static func account(bearer: Bool, basic: String?, digest: String?) throws(PlanError) -> Account {
    let account: Account
    switch (bearer, basic, digest) {
    case (true, nil, nil): account = .bearer
    case (false, let user?, nil): account = .basic(user: user)
    case (false, nil, let user?): account = .digest(user: user)
    default: throw ambiguous
    }
    if let user = account.user, !Account.isUser(user) {
      throw PlanError(
        "A user name must not be empty or contain a colon or control characters; the password is prompted for.")
    }
    return account
  }

  /// Validates the secret.
  ///
  /// - Throws: ``InputError`` for a secret that no request can carry.
  func check(_ secret: Secret) throws(InputError) {
    let isUsable =
      account.user == nil
      ? secret.value.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
      : secret.value.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    guard isUsable else {
      throw InputError(place: "the \(account.secretName)", reason: "it contains a character that is not allowed")
    }
  }
}
