/// A media type such as `application/json` (RFC 9110 §8.3.1).
public struct MediaType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The whole text with its parameters, as it stands in a field.
  public let description: String
  /// Type and subtype in lower case, without parameters.
  public let essence: String

  /// Makes a media type of a field value.
  public init(_ text: String) {
    description = text
    let end = text.firstIndex(of: ";") ?? text.endIndex
    essence = text[..<end].lowercased().filter { $0 != " " && $0 != "\t" }
  }

  /// Makes a media type of a literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// Whether it is JSON, or a format that is written in JSON (RFC 6839 §3.1).
  public var isJSON: Bool { essence == "application/json" || essence.hasSuffix("+json") }

  /// `application/json`
  public static let json: MediaType = "application/json"
  /// `application/problem+json` (RFC 9457)
  public static let problem: MediaType = "application/problem+json"
  /// `application/x-www-form-urlencoded`
  public static let form: MediaType = "application/x-www-form-urlencoded"
  /// `application/octet-stream`
  public static let bytes: MediaType = "application/octet-stream"
  /// `text/plain; charset=utf-8`
  public static let text: MediaType = "text/plain; charset=utf-8"
}
