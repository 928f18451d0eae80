import Apus

/// Whose credentials a profile keeps, and how servers are shown them.
enum Account: Sendable, Hashable {
  case bearer
  case basic(user: String)
  case digest(user: String)

  /// The account that a kept profile tells of; `nil` where it tells of none.
  init?(scheme: String, user: String?) {
    switch (scheme, user) {
    case ("bearer", nil): self = .bearer
    case ("basic", let user?) where Self.isUser(user): self = .basic(user: user)
    case ("digest", let user?) where Self.isUser(user): self = .digest(user: user)
    default: return nil
    }
  }

  /// The name of the scheme, in lower case.
  var scheme: String {
    switch self {
    case .bearer: "bearer"
    case .basic: "basic"
    case .digest: "digest"
    }
  }

  /// The user's name; `nil` where a token says it.
  var user: String? {
    switch self {
    case .bearer: nil
    case .basic(let user), .digest(let user): user
    }
  }

  /// What the secret is called.
  var secretName: String { user == nil ? "token" : "password" }

  /// The credentials, once the secret is known.
  func credential(_ secret: Secret) -> Credential {
    switch self {
    case .bearer: .token(secret)
    case .basic(let user), .digest(let user): .password(user: user, secret)
    }
  }

  /// Whether a text can be a user's name: it is not empty, has no colon, which ends it (RFC 7617 §2), and nothing that
  /// a terminal would obey.
  static func isUser(_ text: String) -> Bool {
    !text.isEmpty && text.unicodeScalars.allSatisfy { $0 != ":" && $0.properties.generalCategory != .control }
  }
}
