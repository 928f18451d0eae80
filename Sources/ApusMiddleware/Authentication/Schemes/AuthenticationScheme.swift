public import ApusCore
import HTTPTypes

/// An authentication scheme: how credentials are added to a message (RFC 9110 §11.1).
///
/// ``Authentication`` has bearer, basic and API keys; the product `ApusCredentials` adds digest. Pass a custom scheme,
/// for example one that signs messages, to ``Authentication/scheme(_:_:origins:realm:)``.
public protocol AuthenticationScheme: Sendable {
  /// The name in `WWW-Authenticate` challenges, for example `Basic`, compared case-insensitively; `nil`: servers send
  /// no challenges for it.
  var name: String? { get }
  /// The fields and parameters to which the scheme adds credentials. A call that sets one of them keeps its own value.
  /// Of several authentications with a common location only one is used. Values at these locations are masked in texts
  /// and not sent to another origin on a redirect.
  var locations: [CredentialLocation] { get }
  /// Chooses the challenge to answer. Default: the first one for ``name``.
  ///
  /// - Parameter challenges: all challenges of a response, in order, those of other schemes included.
  /// - Returns: one of them; `nil`: the scheme cannot answer any.
  func choose(among challenges: [Challenge]) -> Challenge?
  /// Adds credentials to a message that has no values at ``locations``.
  ///
  /// Add secrets with ``RequestMessage/addField(_:)`` as sensitive.
  ///
  /// - Parameters:
  ///   - credential: the credential.
  ///   - challenge: the latest challenge for the message's protection space; `nil`: there was none.
  /// - Returns: whether the credentials were added; `false`: the scheme needs a challenge first, or cannot answer this
  ///   challenge.
  /// - Throws: a ``TransportError`` that says what is wrong with the credentials and does not contain them.
  func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool
}

extension AuthenticationScheme {
  /// The first challenge for the scheme's ``name``; `nil`: there is none.
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

/// A ``CredentialLocation``, prepared for lookups in messages.
enum AuthenticationPlace: Sendable {
  /// `nil`: the name is invalid, which sending it will report.
  case field(HTTPField.Name?)
  case parameter(String)

  init(_ place: CredentialLocation) {
    switch place {
    case .field(let name): self = .field(HTTPField.Name(name))
    case .parameter(let name): self = .parameter(name)
    }
  }

  /// Whether a message has a value at this location.
  func isTaken(in request: RequestMessage) -> Bool {
    switch self {
    case .field(let name): return name.map { request.head.headerFields[$0] != nil } ?? false
    case .parameter(let name):
      var copy = request
      return (try? copy.addQuery([name: ""])) == false
    }
  }
}

extension RequestMessage {
  /// Adds checked credentials in a field that is marked as sensitive: intermediaries do not index it, and texts mask
  /// it.
  mutating func authorize(by scheme: String, _ value: String) {
    var field = HTTPField(name: .authorization, value: "\(scheme) \(value)")
    field.indexingStrategy = .disallow
    head.headerFields.append(field)
  }
}
