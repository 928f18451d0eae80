import ApusCore
import HTTPTypes

/// The fields of a request that selected a stored response among the responses of its URL: those that `Vary` names (RFC
/// 9111 §4.1).
struct CacheVariant: Hashable, Sendable {
  /// A function that replaces the value of a field with a secret by a digest. The first parameter is the name of the
  /// field in lower case. It returns values without secrets unchanged.
  typealias Seal = @Sendable (_ name: String, _ value: String) -> String

  /// The values by the field's name in lower case.
  private(set) var values: [String: String] = [:]
  /// The named fields that the request did not have.
  private(set) var absentNames: Set<String> = []
  /// Whether `Vary` contains `*`: the response answers no other request.
  private(set) var isUnmatchable = false

  /// Reads the fields of a request.
  init(vary: HTTPFields, request: HTTPFields, seal: Seal) {
    for name in Self.names(in: vary) {
      if name == "*" { isUnmatchable = true }
      if let value = Self.value(of: name, in: request, seal) {
        values[name] = value
      } else {
        absentNames.insert(name)
      }
    }
  }

  /// Creates the variant that a store has read.
  init(values: [String: String], absentNames: Set<String>) {
    self.values = values
    self.absentNames = absentNames
  }

  /// Whether a request has the same values.
  func matches(_ request: HTTPFields, seal: Seal) -> Bool {
    if isUnmatchable { return false }
    return values.allSatisfy { Self.value(of: $0.key, in: request, seal) == $0.value }
      && absentNames.allSatisfy { Self.value(of: $0, in: request, seal) == nil }
  }

  /// Returns the variant after a newer response to another request has changed `Vary`.
  ///
  /// The values of newly named fields are known only if the other request is one that the variant matches.
  func updated(vary: HTTPFields, by request: CacheRequest) -> CacheVariant {
    guard Set(Self.names(in: vary)) != absentNames.union(values.keys) else { return self }
    var updated = CacheVariant(vary: vary, request: request.fields, seal: request.seal)
    if !matches(request.fields, seal: request.seal) { updated.isUnmatchable = true }
    return updated
  }

  /// The names in the fields `Vary` of a response, in lower case, and `*`.
  private static func names(in fields: HTTPFields) -> [String] {
    guard fields.contains(.vary) else { return [] }
    return fields[values: .vary].flatMap { value in
      value.utf8.split(separator: UInt8(ascii: ",")).map { element in
        String(decoding: element.trimmed.map(\.asciiLowercased), as: UTF8.self)
      }
    }.filter { !$0.isEmpty }
  }

  /// Returns the value of a field in a form that is the same for equivalent values, or `nil` if it is missing.
  ///
  /// Spaces around commas and the division into several fields have no meaning. Languages, codings and character sets
  /// are case-insensitive. Cookies and credentials are no lists and stay as they are.
  private static func value(of name: String, in fields: HTTPFields, _ seal: Seal) -> String? {
    guard let fieldName = HTTPField.Name(name), let value = fields[fieldName] else { return nil }
    switch name {
    case "cookie", "authorization", "proxy-authorization":
      return seal(name, value)
    default:
      let elements = FieldList.elements(of: Array(value.utf8)[...], allowsEscapes: true)
      let joined = elements.map { String(decoding: $0, as: UTF8.self) }.joined(separator: ", ")
      return seal(name, caseInsensitiveFields.contains(name) ? joined.lowercased() : joined)
    }
  }

  private static let caseInsensitiveFields: Set<String> = ["accept-charset", "accept-encoding", "accept-language"]
}
