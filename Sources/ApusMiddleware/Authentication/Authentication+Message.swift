import ApusCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension Authentication {
  /// Whether credentials may go to where a message goes.
  func allows(_ origin: Origin?, in environment: Environment) -> Bool {
    guard let origin else { return false }
    return origins?.contains(origin) ?? (origin == environment.baseURL.origin)
  }

  /// Puts credentials on a message that does not carry its own in their place.
  func apply(_ credential: Credential, to request: inout RequestMessage) throws {
    switch (scheme, credential) {
    case (.bearer, .token(let token)):
      try request.addCredential(field: "Authorization", "Bearer \(token.value)")
    case (.basic, .password(let user, let password)):
      guard !user.contains(":") else { throw CredentialMismatch(reason: "a user name holds a colon") }
      let pair = Data("\(user):\(password.value)".utf8).base64EncodedString()
      try request.addCredential(field: "Authorization", "Basic \(pair)")
    case (.keyField(let name), .token(let key)):
      try request.addCredential(field: name, key.value)
    case (.keyParameter(let name), .token(let key)):
      try request.addQuery([name: key.value])
    case (.basic, .token): throw CredentialMismatch(reason: "basic authentication needs a name and a password")
    case (_, .password): throw CredentialMismatch(reason: "a name and a password need basic authentication")
    }
  }
}

/// Credentials of a kind that the authentication cannot use.
public struct CredentialMismatch: Error, Sendable, Hashable, CustomStringConvertible {
  /// Why, as half a sentence.
  public let reason: String
  /// The reason.
  public var description: String { reason }
}

extension RequestMessage {
  /// Adds a field with credentials, marked so that no intermediary stores it.
  fileprivate mutating func addCredential(field name: String, _ value: String) throws {
    try addField(RawField(name, value), isSensitive: true)
  }
}
