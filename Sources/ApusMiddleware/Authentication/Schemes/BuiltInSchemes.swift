import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The Bearer scheme: a token in `Authorization: Bearer` (RFC 6750 §2.1).
struct BearerScheme: AuthenticationScheme {
  /// `Bearer`
  var name: String? { "Bearer" }
  /// `Authorization`
  var locations: [CredentialLocation] { [.field("Authorization")] }

  /// Creates the scheme.
  init() {}

  /// Adds the token.
  func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool {
    request.authorize(by: "Bearer", try credential.checkedToken())
    return true
  }
}

/// The Basic scheme: a user name and a password in `Authorization: Basic` (RFC 7617), in UTF-8.
struct BasicScheme: AuthenticationScheme {
  /// `Basic`
  var name: String? { "Basic" }
  /// `Authorization`
  var locations: [CredentialLocation] { [.field("Authorization")] }

  /// Creates the scheme.
  init() {}

  /// Adds the user name and the password.
  func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool {
    guard case .password(let user, let password) = credential else {
      throw TransportError.unusable("basic authentication needs a name and a password")
    }
    request.authorize(by: "Basic", try Self.pair(user, password))
    return true
  }

  /// The user name and the password in the form of RFC 7617 §2.
  private static func pair(_ user: String, _ password: Secret) throws -> String {
    guard !user.utf8.contains(UInt8(ascii: ":")) else { throw TransportError.unusable("the user name holds a colon") }
    let pair = "\(user):\(password.value)"
    guard pair.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
      throw TransportError.unusable("the user name or the password holds a control character")
    }
    return Data(pair.utf8).base64EncodedString()
  }
}

/// An API key in a field or a query parameter.
struct APIKeyScheme: AuthenticationScheme {
  private let place: CredentialLocation

  /// `nil`: servers send no challenges for it.
  var name: String? { nil }
  /// The field or the parameter.
  var locations: [CredentialLocation] { [place] }

  /// Creates a scheme with a field, for example `X-Api-Key`.
  init(field: String) {
    place = .field(field)
  }

  /// Creates a scheme with a query parameter. URLs end up in logs: use it only if the server accepts nothing else.
  init(queryParameter: String) {
    place = .parameter(queryParameter)
  }

  /// Adds the key.
  func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool {
    let key = try credential.checkedToken()
    switch place {
    case .field(let name): try request.addField(RawField(name, key, isSensitive: true))
    case .parameter(let name): try request.addQuery([name: key])
    }
    return true
  }
}
