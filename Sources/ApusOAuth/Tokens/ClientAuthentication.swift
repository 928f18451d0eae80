public import ApusCore
import ApusJSON
public import ApusMiddleware
import Crypto

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// How a client proves its identity to the authorization server.
public struct ClientAuthentication: Sendable, SelfRedacting {
  enum Kind: Sendable {
    case none
    case basic(Secret)
    case post(Secret)
    case key(P256.Signing.PrivateKey, id: String?, namesEndpoint: Bool)
  }

  let kind: Kind

  init(kind: Kind) {
    self.kind = kind
  }

  /// No proof, for apps on a user's device or in a browser, because such apps cannot protect a secret. PKCE and the
  /// redirect protect their sign-ins.
  public static let none = ClientAuthentication(kind: .none)

  /// A secret in `Authorization: Basic` (RFC 6749 §2.3.1).
  public static func basic(_ secret: Secret) -> ClientAuthentication {
    ClientAuthentication(kind: .basic(secret))
  }

  /// A secret in the form, for servers that do not support ``basic(_:)``.
  public static func post(_ secret: Secret) -> ClientAuthentication {
    ClientAuthentication(kind: .post(secret))
  }

  /// A signature with a private key for P-256 (`private_key_jwt` with ES256, RFC 7523), so that no secret is sent.
  ///
  /// - Parameters:
  ///   - pem: the private key as PEM.
  ///   - keyID: the key ID of the public key at the server. Default: `nil`, no key ID.
  ///   - namesEndpoint: whether the audience (`aud`) of a signature is the URL to which it is sent, for servers that do
  ///     not accept their issuer. Default: `false`, the issuer of the server, so that a signature for one server is
  ///     invalid at any other server.
  /// - Throws: ``OAuthError`` with the code ``OAuthError/Code/invalidRequest``.
  public static func privateKey(
    pem: Secret, keyID: String? = nil, namesEndpoint: Bool = false
  ) throws(OAuthError) -> ClientAuthentication {
    guard let key = try? P256.Signing.PrivateKey(pemRepresentation: pem.value) else {
      throw OAuthError(.token, .invalidKey, "the client's key is no private key for P-256 as PEM")
    }
    return ClientAuthentication(kind: .key(key, id: keyID, namesEndpoint: namesEndpoint))
  }

  /// The kind only, without secrets.
  public var description: String {
    switch kind {
    case .none: "none"
    case .basic: "client_secret_basic"
    case .post: "client_secret_post"
    case .key: "private_key_jwt"
    }
  }
}

extension ClientAuthentication {
  /// The values that a signature needs.
  struct Occasion {
    /// The issuer of the server.
    let issuer: String
    /// The URL to which the request is sent.
    let endpoint: String
    let date: Date
    /// A unique text.
    let id: String
  }

  /// The secret that is sent; `nil` if no secret is sent.
  var secret: Secret? {
    switch kind {
    case .basic(let secret), .post(let secret): secret
    case .none, .key: nil
    }
  }

  /// Whether the form of each request contains the client's ID.
  var addsID: Bool {
    if case .basic = kind { false } else { true }
  }

  /// Adds the client's identity and its proof to a request.
  ///
  /// - Parameters:
  ///   - form: the request's form.
  ///   - client: the client's id.
  /// - Returns: the fields to add.
  func identify(
    _ form: inout [(name: String, value: String)], as client: String, _ occasion: Occasion
  ) throws -> [RawField] {
    switch kind {
    case .none:
      form.append(("client_id", client))
    case .basic(let secret):
      let pair = "\(FormText.encoded(client)):\(FormText.encoded(secret.value))"
      return [RawField("Authorization", "Basic \(Data(pair.utf8).base64EncodedString())", isSensitive: true)]
    case .post(let secret):
      form += [("client_id", client), ("client_secret", secret.value)]
    case .key(let key, let id, let namesEndpoint):
      // The audience is never another server's URL from the metadata, because the assertion would be valid there.
      let audience = namesEndpoint ? occasion.endpoint : occasion.issuer
      form += [
        ("client_id", client),
        ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
        ("client_assertion", try assertion(of: client, for: audience, occasion, (key, id))),
      ]
    }
    return []
  }

  private func assertion(
    of client: String, for audience: String, _ occasion: Occasion, _ key: (P256.Signing.PrivateKey, id: String?)
  ) throws -> String {
    let seconds = Int64(occasion.date.timeIntervalSince1970)
    var header: [String: JSONValue] = ["alg": "ES256", "typ": "JWT"]
    if let id = key.id { header["kid"] = .string(id) }
    let claims: JSONValue = [
      "iss": .string(client), "sub": .string(client), "aud": .string(audience), "jti": .string(occasion.id),
      "iat": .number(JSONNumber(seconds)), "exp": .number(JSONNumber(seconds + 60)),
    ]
    return try SignedToken.signed(header: .object(header), claims: claims, by: key.0)
  }
}
