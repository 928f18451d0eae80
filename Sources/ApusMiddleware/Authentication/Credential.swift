/// A secret text: it prints as `██` everywhere, and is read only where it is sent.
public struct Secret: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible,
  CustomDebugStringConvertible, CustomReflectable
{
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
  /// `██`
  public var debugDescription: String { "██" }
  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What proves to a server who is calling.
public enum Credential: Sendable, Hashable {
  /// A token (RFC 6750 §2.1), or an API key.
  case token(Secret)
  /// A name and a password (RFC 7617).
  case password(user: String, Secret)
}
