/// A field as the app wrote it; checked before it is sent.
public struct RawField: Sendable, Hashable {
  /// The name, in the app's spelling.
  public var name: String
  /// The value.
  public var value: String

  /// Makes a field, unchecked.
  public init(_ name: String, _ value: String) {
    self.name = name
    self.value = value
  }
}
