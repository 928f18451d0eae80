public import ApusCore

/// How credentials are shown to a server (RFC 9110 §11.1).
///
/// Apus has ``BearerScheme``, ``BasicScheme`` and ``KeyScheme``; the product `ApusCredentials` adds digest. One of your
/// own, for example for a server that wants its messages signed, is given to
/// ``Authentication/scheme(_:_:origins:realm:)``.
public protocol AuthenticationScheme: Sendable {
  /// The name by which servers ask for it in `WWW-Authenticate`, for example `Basic`, compared without regard to case;
  /// `nil`: they do not.
  var name: String? { get }
  /// Where it shows credentials. A call that has put something there keeps it, and of several authentications with a
  /// place in common only one is used. Nothing in these places reaches another origin by a redirect, or a text.
  var places: [CredentialPlace] { get }
  /// Which of a server's challenges it answers. Default: the first that asks for its ``name``.
  ///
  /// - Parameter challenges: all that the server sent with one answer, in its order; those of other schemes as well.
  /// - Returns: one of them; `nil`: it can answer none.
  func choose(among challenges: [Challenge]) -> Challenge?
  /// Puts credentials on a message, which has nothing at ``places``.
  ///
  /// What is secret in it is added by ``ApusCore/RequestMessage/addField(_:)`` as sensitive.
  ///
  /// - Parameters:
  ///   - credential: what proves who is calling.
  ///   - challenge: what the server last asked for where the message goes; `nil`: it has not asked.
  /// - Returns: whether they were added; `false`: they cannot be shown before the server has asked, or not as it asks.
  /// - Throws: a ``ApusCore/TransportError`` that says what is wrong with the credentials and does not contain them.
  func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool
}

extension AuthenticationScheme {
  /// The first challenge that asks for the scheme by its ``name``; `nil` where there is none.
  public func choose(among challenges: [Challenge]) -> Challenge? {
    guard let name else { return nil }
    return challenges.first { $0.asks(for: name) }
  }
}

/// Where credentials are shown.
public enum CredentialPlace: Sendable, Hashable {
  /// A field, by its name.
  case field(String)
  /// A parameter of the query, by its name.
  case parameter(String)
}
