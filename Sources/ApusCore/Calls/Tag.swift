/// Marks calls that belong together, for example all images.
public struct Tag: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The tag's name.
  public let name: String

  /// Makes a tag.
  public init(_ name: String) {
    self.name = name
  }

  /// Makes a tag of a literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// The name.
  public var description: String { name }
}
