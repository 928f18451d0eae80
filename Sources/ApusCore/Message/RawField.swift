import HTTPTypes

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

/// Checks fields before the field type sees them, which would silently clean what must be refused.
enum FieldRules {
  /// Fields that frame the message: set by the transport alone (RFC 9112 §6, RFC 9110 §7.2, §7.6.1).
  private static let framing: Set<String> = [
    "content-length", "transfer-encoding", "host", "connection", "keep-alive", "upgrade", "te", "trailer",
    "proxy-connection",
  ]

  /// The checked field.
  ///
  /// - Throws: ``CallFault`` when the name is no token, when it frames the message, or when the value holds
  ///   CR, LF, NUL or another character that RFC 9110 §5.5 forbids.
  static func field(_ field: RawField) throws -> HTTPField {
    guard let name = HTTPField.Name(field.name), !field.name.hasPrefix(":") else {
      throw CallFault(.invalidRequest, "a field's name is not a token")
    }
    guard !framing.contains(name.canonicalName) else {
      throw CallFault(.invalidRequest, "the field \(name) is set by the transport")
    }
    guard HTTPField.isValidValue(field.value) else {
      throw CallFault(.invalidRequest, "the value of the field \(name) holds a character that is not allowed")
    }
    var checked = HTTPField(name: name, value: field.value)
    if field.isSensitive { checked.indexingStrategy = .disallow }
    return checked
  }

  private static let acceptJSON: HTTPFields = [.accept: MediaType.json.description]
  private static let acceptAnything: HTTPFields = [.accept: "*/*"]

  /// The first field of every request, made once for the usual cases.
  static func accept(_ type: MediaType?) -> HTTPFields {
    guard let type else { return acceptAnything }
    if type == .json { return acceptJSON }
    return [.accept: type.description]
  }
}
