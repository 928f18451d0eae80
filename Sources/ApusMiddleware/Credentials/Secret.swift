/// A secret text: it prints as `██` everywhere, and is read only where it is sent.
///
/// It cannot be encoded, so that no model or log writes it down by accident: whoever keeps it somewhere asks for
/// its ``value``.
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
  public var debugDescription: String { description }
  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
