/// What proves to a server who is calling.
public enum Credential: Sendable, Hashable {
  /// A token (RFC 6750 §2.1), or an API key.
  case token(Secret)
  /// A token that ends, and what buys the next.
  case tokens(Tokens)
  /// A name and a password (RFC 7617).
  case password(user: String, Secret)
}

extension Credential {
  /// The token that is shown; `nil` for a name and a password.
  var token: Secret? {
    switch self {
    case .token(let token): token
    case .tokens(let tokens): tokens.access
    case .password: nil
    }
  }
}

extension Credential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The kind alone: a user's name is nobody's business either.
  public var description: String {
    switch self {
    case .token: "token ██"
    case .tokens: "tokens ██"
    case .password: "password ██"
    }
  }
  /// The same as ``description``.
  public var debugDescription: String { description }
  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
