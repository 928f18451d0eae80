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

  /// Returns the token to send, which must consist of visible ASCII characters. RFC 6750 §2.1 allows fewer characters,
  /// but servers issue tokens with `|` and `:`.
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
  /// Only the kind, because a user name is private, too.
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
  /// Returns the error of a call whose credentials cannot be sent.
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

/// The tokens of a sign-in or a refresh (RFC 6749 §5.1).
///
/// ```swift
/// let tokens = Tokens(access: "2YotnFZFEjr1zCsicMWpAA", refresh: "tGzv3JOkF0XG5Qx2TlKWIA", lifetime: .seconds(3600))
/// ```
///
/// Tokens can be decoded from the response of a token endpoint. They are not `Encodable`; store their parts.
public struct Tokens: Sendable, Hashable {
  /// The access token, sent with every message.
  public var access: Secret
  /// The refresh token; `nil`: the tokens are not refreshed, or the refresh needs no token.
  public var refresh: Secret?
  /// The lifetime of the access token from when it was issued; `nil`: unknown.
  public var lifetime: Duration?
  /// The scopes that the server granted (RFC 6749 §3.3); `nil`: unknown.
  public var scopes: [String]?
  /// The ID token of the sign-in as the server sent it (OpenID Connect Core §2); `nil`: none. It is not validated here.
  public var idToken: Secret?
  /// The private key to which the server has bound the tokens (RFC 9449), which `ApusOAuth` writes and reads; `nil`:
  /// the tokens are not bound to a key.
  public var proofKey: Secret?

  /// Creates tokens from their parts.
  public init(access: Secret, refresh: Secret? = nil, lifetime: Duration? = nil) {
    self.access = access
    self.refresh = refresh
    self.lifetime = lifetime
  }
}

extension Tokens: Decodable {
  /// The members, by the standard's names and in camel case, as decoders with a key strategy see them.
  private enum Member: String, CodingKey {
    case access = "access_token"
    case camelCaseAccess = "accessToken"
    case refresh = "refresh_token"
    case camelCaseRefresh = "refreshToken"
    case lifetime = "expires_in"
    case camelCaseLifetime = "expiresIn"
    case scope
    case idToken = "id_token"
    case camelCaseIDToken = "idToken"
  }

  /// Reads `access_token`, `refresh_token`, `expires_in` in seconds, `scope` and `id_token` (RFC 6749 §5.1).
  ///
  /// - Throws: `DecodingError` if there is no access token. A lifetime that is not a number, and a scope or an ID
  ///   token that is not a string, are ignored.
  public init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: Member.self)
    func name(_ standard: Member, _ camelCase: Member) -> Member { members.contains(camelCase) ? camelCase : standard }
    access = Secret(try members.decode(String.self, forKey: name(.access, .camelCaseAccess)))
    let refresh = try members.decodeIfPresent(String.self, forKey: name(.refresh, .camelCaseRefresh))
    // Some servers send an empty string instead of no value, here and below.
    self.refresh = refresh.flatMap { $0.isEmpty ? nil : Secret($0) }
    // Some servers write the number as a string.
    let key = name(.lifetime, .camelCaseLifetime)
    let text = try? members.decode(String.self, forKey: key)
    let seconds = (try? members.decode(Double.self, forKey: key)) ?? text.flatMap { Double($0) }
    lifetime = seconds.flatMap { $0 > 0 && $0 < 1e10 ? Duration(clampingSeconds: $0) : nil }
    let list = try? members.decode([String].self, forKey: .scope)
    let scopes =
      (try? members.decode(String.self, forKey: .scope)).map { Self.scopes(in: $0) } ?? Self.scopes(of: list ?? [])
    self.scopes = scopes.isEmpty ? nil : scopes
    let idToken = try? members.decode(String.self, forKey: name(.idToken, .camelCaseIDToken))
    self.idToken = idToken.flatMap { $0.isEmpty ? nil : Secret($0) }
  }
}

extension Tokens {
  /// Returns the scopes in a list that is separated by spaces (RFC 6749 §3.3), at most 1,000. Some servers separate
  /// scopes by commas, which may also be part of a scope: a comma separates scopes only if commas precede all spaces.
  package static func scopes(in text: String) -> [String] {
    let words = text.split(separator: " ", maxSplits: 1000).prefix(1000)
    let isList = words.dropLast().allSatisfy { $0.utf8.last == UInt8(ascii: ",") }
    return scopes(
      of: isList ? text.split(maxSplits: 1000) { $0 == " " || $0 == "," }.map { String($0) } : words.map { String($0) })
  }

  /// Returns the scopes of a list, at most 1,000, without values that cannot be scopes: empty values, and values with
  /// control or direction characters, which must not reach a user interface.
  package static func scopes(of list: [String]) -> [String] {
    list.prefix(1000).filter { scope in
      !scope.isEmpty
        && scope.unicodeScalars.allSatisfy { ![.control, .format].contains($0.properties.generalCategory) }
    }
  }

  /// Returns the tokens of a refresh, completed with the values of the old tokens that the server did not send again:
  /// the refresh token stays valid and the scopes stay the same (RFC 6749 §6).
  package func completed(with old: Tokens) -> Tokens {
    var tokens = self
    tokens.refresh = refresh ?? old.refresh
    tokens.scopes = scopes ?? old.scopes
    tokens.idToken = idToken ?? old.idToken
    tokens.proofKey = proofKey ?? old.proofKey
    return tokens
  }
}

extension Tokens: CustomStringConvertible, CustomReflectable {
  /// `tokens ██`
  public var description: String { "tokens ██" }
  /// An empty mirror.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
