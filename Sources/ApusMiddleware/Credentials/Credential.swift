public import ApusCore

/// A credential that authenticates calls to a server.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum Credential: Sendable, Hashable {
  /// A token (RFC 6750 §2.1), or an API key.
  case token(Secret)
  /// An access token that expires, with its refresh token.
  case tokens(Tokens)
  /// A user name and a password (RFC 7617).
  case password(user: String, Secret)
}

extension Credential {
  /// The token to send; `nil` for a user name and a password.
  var token: Secret? {
    switch self {
    case .token(let token): token
    case .tokens(let tokens): tokens.access
    case .password: nil
    }
  }

  /// The token to send, which must consist of visible ASCII characters. RFC 6750 §2.1 allows fewer, but servers issue
  /// tokens with `|` and `:`.
  package func checkedToken() throws -> String {
    guard let token else { throw TransportError.unusable("a name and a password need basic authentication") }
    guard !token.value.isEmpty else { throw TransportError.unusable("the token is empty") }
    guard token.value.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw TransportError.unusable("the token holds a character that is not allowed")
    }
    return token.value
  }
}

extension Credential: CustomStringConvertible, CustomReflectable {
  /// The kind only; a user name is private, too.
  public var description: String {
    switch self {
    case .token: "token ██"
    case .tokens: "tokens ██"
    case .password: "password ██"
    }
  }
  /// An empty mirror.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension TransportError {
  /// The error of a call whose credentials cannot be sent.
  static func unusable(_ detail: String, underlying: (any Error)? = nil) -> TransportError {
    TransportError(.invalidRequest, requestState: .notSent, detail: detail, underlying: underlying)
  }
}

/// A secret string. It prints as `██` everywhere.
///
/// It is not `Encodable`, so that no model or log stores it by accident. Use ``value`` to store it.
public struct Secret: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible, CustomReflectable {
  /// The secret itself.
  public let value: String

  /// Wraps a secret.
  public init(_ value: String) {
    self.value = value
  }

  /// Wraps a literal, for tests and examples.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// `██`
  public var description: String { "██" }
  /// An empty mirror.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A policy that decides whether calls of an endpoint carry credentials.
public enum CredentialsPolicy: Sendable, Hashable {
  /// The call carries credentials if there are any.
  case optional
  /// The call must carry credentials. If there are none for the environment's server, the call is not sent and fails
  /// with the code `refused`. A redirect to another server is followed without credentials.
  case required
  /// The call carries no credentials: sign-in, sign-up, public resources. A 401 does not end the session
  /// (``SessionEnd``).
  case none
}

package enum CredentialsPolicyKey: ContextKey {
  package static let defaultValue = CredentialsPolicy.optional
}

extension Endpoint {
  /// Sets whether calls of this endpoint carry credentials. Default: ``CredentialsPolicy/optional``.
  public func credentials(_ policy: CredentialsPolicy) -> Request<Value> {
    setting(CredentialsPolicyKey.self, policy)
  }
}
