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

extension RawField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name, and the value where ``Redaction`` shows it.
  public var description: String {
    let isShown = Redaction.standardFields.contains(name.lowercased())
    return "\(name): \(isShown ? value : Redaction.mask)"
  }

  /// The same as ``description``.
  public var debugDescription: String { description }

  /// Shows ``description`` alone.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
