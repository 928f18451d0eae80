package import HTTPTypes

/// The names of the fields and query parameters whose values logs and descriptions may show. All other values are
/// masked.
public struct Redaction: Sendable {
  /// The text that replaces a masked value.
  public static let mask = "██"

  /// The names of fields (headers) whose values are shown, in lower case. All others are masked.
  public var shownFields: Set<String>
  /// The names of query parameters whose values are shown. All others are masked.
  public var shownParameters: Set<String>

  /// Creates a redaction.
  ///
  /// - Parameters:
  ///   - shownFields: the fields to show. Default: ``defaultFields``.
  ///   - shownParameters: the query parameters to show. Default: none.
  public init(shownFields: Set<String> = Redaction.defaultFields, shownParameters: Set<String> = []) {
    self.shownFields = Set(shownFields.map { $0.lowercased() })
    self.shownParameters = shownParameters
  }

  /// Fields that describe a message and contain no credentials or personal data.
  public static let defaultFields: Set<String> = [
    "accept", "accept-encoding", "accept-language", "age", "allow", "cache-control", "content-encoding",
    "content-length", "content-range", "content-type", "date", "etag", "expires", "if-match", "if-modified-since",
    "if-none-match", "last-modified", "range", "retry-after", "server", "user-agent", "vary",
  ]

  /// Returns a field's value, or the mask.
  package func value(of field: HTTPField) -> String {
    let isShown = field.indexingStrategy != .disallow && shownFields.contains(field.name.canonicalName)
    return isShown ? field.value : Self.mask
  }

  /// Returns a request target with the values of its query masked.
  package func target(_ target: String) -> String {
    let bytes = target.utf8
    guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return target }
    let items = bytes[bytes.index(after: mark)...].split(separator: UInt8(ascii: "&")).map { item in
      // Without `=` the item may be a value.
      guard let sign = item.firstIndex(of: UInt8(ascii: "=")) else { return Self.mask }
      let name = Substring(item[..<sign])
      return shownParameters.contains(PercentEncoding.decode(name)) ? String(Substring(item)) : "\(name)=\(Self.mask)"
    }
    return target[..<mark] + "?" + items.joined(separator: "&")
  }
}

/// A type whose `description` is safe to log and is all that `print`, `dump` and debuggers show.
package protocol SelfRedacting: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension SelfRedacting {
  /// Equals `description`.
  public var debugDescription: String { description }
  /// Contains only `description`.
  public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
