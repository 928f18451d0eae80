import HTTPTypes

/// A field (header) as the app wrote it. It is checked when the request is built.
public struct RawField: Sendable, Hashable {
  /// The name as the app wrote it.
  public var name: String
  /// The value.
  public var value: String
  /// Whether the value is a secret, for example an API key.
  ///
  /// A sensitive value is masked in logs, descriptions and error messages, is not sent to another origin after a
  /// redirect, and must not be stored by intermediaries (RFC 7541 §7.1.3). `Authorization`, `Cookie` and the fields
  /// that the client's authentication adds are always sensitive.
  public var isSensitive: Bool

  /// Creates a field without checking it.
  public init(_ name: String, _ value: String, isSensitive: Bool = false) {
    self.name = name
    self.value = value
    self.isSensitive = isSensitive
  }
}

extension RawField: SelfRedacting {
  /// The name and the value, which is masked unless ``Redaction/defaultFields`` contains the name.
  public var description: String {
    let isShown = !isSensitive && Redaction.defaultFields.contains(name.lowercased())
    return "\(name): \(isShown ? value : Redaction.mask)"
  }
}

extension [RawField] {
  /// Adds a field and removes fields with the same name, ignoring case.
  mutating func replace(with field: RawField) {
    removeAll { $0.name.utf8.lowercasedEqual(field.name.utf8) }
    append(field)
  }
}

/// Validation of fields. `HTTPField` itself would silently remove invalid characters.
enum FieldRules {
  /// The fields that only the transport sets, because they frame the message (RFC 9112 §6, RFC 9110 §7.2, §7.6.1).
  private static let framing: Set<String> = [
    "content-length", "transfer-encoding", "host", "connection", "keep-alive", "upgrade", "te", "trailer",
    "proxy-connection",
  ]

  /// Returns a valid field.
  ///
  /// - Throws: ``CallFault`` if the name is not a token or is reserved for the transport, or if the value contains CR,
  ///   LF, NUL or another character that RFC 9110 §5.5 forbids.
  static func field(_ field: RawField) throws -> HTTPField {
    guard let name = HTTPField.Name(field.name), !field.name.hasPrefix(":") else {
      throw CallFault(.invalidRequest, "a field's name is not a token")
    }
    guard !framing.contains(name.canonicalName) else {
      throw CallFault(.invalidRequest, "the field \(name) is set by the transport")
    }
    guard HTTPField.isValidValue(field.value) else {
      throw CallFault(.invalidRequest, "the value of the field \(name) contains a character that is not allowed")
    }
    var checked = HTTPField(name: name, value: field.value)
    if field.isSensitive { checked.indexingStrategy = .disallow }
    return checked
  }

  private static let acceptJSON: HTTPFields = [.accept: MediaType.json.description]
  private static let acceptAnything: HTTPFields = [.accept: "*/*"]

  /// Returns `Accept`, the first field of every request. Precomputed for the usual cases.
  static func accept(_ type: MediaType?) -> HTTPFields {
    guard let type else { return acceptAnything }
    if type == .json { return acceptJSON }
    return [.accept: type.description]
  }
}
