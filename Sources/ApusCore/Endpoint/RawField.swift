/// A field as the app wrote it; checked before it is sent.
public struct RawField: Sendable, Hashable {
  /// The name, in the app's spelling.
  public var name: String
  /// The value.
  public var value: String
  /// Whether the value proves who is calling, or must not be known for another reason.
  ///
  /// It is then masked in every text, never carried along when a redirect leads to another origin, and intermediaries
  /// must not store it (RFC 7541 §7.1.3). `Authorization`, `Cookie` and what a client's authentication adds need no mark.
  public var isSensitive: Bool

  /// Makes a field, unchecked.
  public init(_ name: String, _ value: String, isSensitive: Bool = false) {
    self.name = name
    self.value = value
    self.isSensitive = isSensitive
  }
}

extension RawField: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// The name, and the value where ``Redaction`` shows it.
  public var description: String {
    let isShown = !isSensitive && Redaction.standardFields.contains(name.lowercased())
    return "\(name): \(isShown ? value : Redaction.mask)"
  }

  /// The same as ``description``.
  public var debugDescription: String { description }

  /// Shows ``description`` alone.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
