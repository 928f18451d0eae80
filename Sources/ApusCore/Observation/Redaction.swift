public import HTTPTypes

/// What may stand in texts that people and logs see: everything else is masked.
public struct Redaction: Sendable {
  /// Stands in place of what is masked.
  public static let mask = "██"

  /// Names of fields whose values are shown, in lower case; all others are masked.
  public var shownFields: Set<String>
  /// Names of query parameters whose values are shown; all others are masked.
  public var shownParameters: Set<String>

  /// Makes a redaction.
  ///
  /// - Parameters:
  ///   - shownFields: default ``standardFields``.
  ///   - shownParameters: default none.
  public init(shownFields: Set<String> = Redaction.standardFields, shownParameters: Set<String> = []) {
    self.shownFields = Set(shownFields.map { $0.lowercased() })
    self.shownParameters = shownParameters
  }

  /// Fields that describe a message and prove nothing about anybody.
  public static let standardFields: Set<String> = [
    "accept", "accept-encoding", "accept-language", "age", "allow", "cache-control", "content-encoding",
    "content-length", "content-range", "content-type", "date", "etag", "expires", "if-match", "if-modified-since",
    "if-none-match", "last-modified", "range", "retry-after", "server", "user-agent", "vary",
  ]

  /// A field's value, or the mask.
  public func value(of field: HTTPField) -> String {
    let isShown = field.indexingStrategy != .disallow && shownFields.contains(field.name.canonicalName)
    return isShown ? field.value : Self.mask
  }

  /// A request target with the values of its query masked.
  public func target(_ target: String) -> String {
    let bytes = target.utf8
    guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return target }
    let items = bytes[bytes.index(after: mark)...].split(separator: UInt8(ascii: "&")).map { item in
      // Without a sign nobody knows whether it is a name or a value.
      guard let sign = item.firstIndex(of: UInt8(ascii: "=")) else { return Self.mask }
      let name = Substring(item[..<sign])
      return shownParameters.contains(PercentEncoding.decode(name)) ? String(Substring(item)) : "\(name)=\(Self.mask)"
    }
    return target[..<mark] + "?" + items.joined(separator: "&")
  }
}
