public import ApusCore
import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An authentication scheme: how credentials are added to a message (RFC 9110 §11.1).
///
/// ``Authentication`` has bearer, basic and API keys; the product `ApusCredentials` adds digest. Pass a custom scheme,
/// for example a scheme that signs messages, to ``Authentication/scheme(_:_:origins:realm:)``.
public protocol AuthenticationScheme: Sendable {
  /// The name in `WWW-Authenticate` challenges, for example `Basic`, compared case-insensitively; `nil` if servers
  /// send no challenges for the scheme.
  var name: String? { get }
  /// The fields and parameters to which the scheme adds credentials. A value that a call sets itself takes precedence.
  /// Of several authentications with a common location, a message uses only one authentication. Values at these
  /// locations are masked in logs and descriptions, and are not sent to another origin on a redirect.
  var locations: [CredentialLocation] { get }
  /// Chooses the challenge to answer. Default: the first challenge for ``name``.
  ///
  /// - Parameter challenges: all challenges of a response, in order, including challenges for other schemes.
  /// - Returns: one of `challenges`; `nil` if the scheme can answer none of them.
  func choose(among challenges: [Challenge]) -> Challenge?
  /// Adds credentials to a message that has no values at ``locations``.
  ///
  /// Called for each message: for each attempt and each resend. A scheme may suspend, for example to hash the content
  /// of a file. Add secrets with ``RequestMessage/addField(_:)`` as sensitive.
  ///
  /// - Parameters:
  ///   - credential: the credential.
  ///   - challenge: the latest challenge for the message's protection space; `nil` if there was no challenge.
  /// - Returns: whether the credentials were added; `false`: the scheme needs a challenge first, or cannot answer this
  ///   challenge.
  /// - Throws: a ``TransportError`` that states the fault of the credentials and does not contain them.
  func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) async throws -> Bool
  /// Examines the response to a message that carries the scheme's credentials, regardless of the status and before a
  /// challenge in the response is answered. Default: returns `false`.
  ///
  /// A scheme reads here a nonce for the next message, or a proof that the server knows the credentials. The call gets
  /// the response only when this function returns, so it must be quick.
  ///
  /// - Parameters:
  ///   - response: the response. Its content is in memory only for calls with buffered delivery, and never with status
  ///     401; content that is still arriving must not be read.
  ///   - request: the message that was sent, with the credentials.
  ///   - credential: the credential that was passed to ``authorize(_:with:for:)``.
  ///   - challenge: the challenge that was passed to ``authorize(_:with:for:)``.
  /// - Returns: whether a response with status 401 requests the same credentials in another form, for example a proof
  ///   with a new nonce (RFC 9449 §9). The message is then authorized again and resent, without a refresh, once; a
  ///   second such response is the call's response. With any other status the result has no effect.
  /// - Throws: a ``TransportError`` that states why the response is rejected and does not contain the credentials. The
  ///   call does not get the response. Any other error is the `underlying` error of the call's error, whose code is
  ///   `refused`.
  func receive(
    _ response: ResponseMessage, to request: RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool
}

extension AuthenticationScheme {
  /// Returns `false`.
  public func receive(
    _ response: ResponseMessage, to request: RequestMessage, with credential: Credential, for challenge: Challenge?
  ) -> Bool { false }

  /// Returns the first challenge for the scheme's ``name``; `nil` if there is no such challenge.
  public func choose(among challenges: [Challenge]) -> Challenge? {
    guard let name else { return nil }
    return challenges.first { $0.matches(scheme: name) }
  }
}

/// The location of credentials in a message.
public enum CredentialLocation: Sendable, Hashable {
  /// A field, by its name.
  case field(String)
  /// A parameter of the query, by its name.
  case parameter(String)
}

extension CredentialLocation {
  /// A location, prepared for lookups in messages.
  enum Prepared: Sendable {
    /// `nil` if the name is invalid, which is reported when the credentials are added.
    case field(HTTPField.Name?)
    case parameter(String)

    init(_ location: CredentialLocation) {
      switch location {
      case .field(let name): self = .field(HTTPField.Name(name))
      case .parameter(let name): self = .parameter(name)
      }
    }

    /// Whether a message has a value at this location.
    func hasValue(in request: RequestMessage) -> Bool {
      switch self {
      case .field(let name): return name.map { request.head.headerFields[$0] != nil } ?? false
      case .parameter(let name):
        var copy = request
        return (try? copy.addQuery([name: ""])) == false
      }
    }
  }
}

/// The Bearer scheme: a token in `Authorization: Bearer` (RFC 6750 §2.1).
struct BearerScheme: AuthenticationScheme {
  /// `Bearer`
  var name: String? { "Bearer" }
  /// `Authorization`
  var locations: [CredentialLocation] { [.field("Authorization")] }

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

  /// Returns the user name and the password in the form of RFC 7617 §2.
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
  let location: CredentialLocation

  /// `nil`: servers send no challenges for it.
  var name: String? { nil }
  /// The field or the parameter.
  var locations: [CredentialLocation] { [location] }

  /// Adds the key.
  func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool {
    let key = try credential.checkedToken()
    switch location {
    case .field(let name): try request.addField(RawField(name, key, isSensitive: true))
    case .parameter(let name): try request.addQuery([name: key])
    }
    return true
  }
}

extension RequestMessage {
  /// Adds checked credentials as a sensitive field: intermediaries do not index it, and logs and descriptions mask it.
  fileprivate mutating func authorize(by scheme: String, _ value: String) {
    var field = HTTPField(name: .authorization, value: "\(scheme) \(value)")
    field.indexingStrategy = .disallow
    head.headerFields.append(field)
  }
}
