/// A media type such as `application/json` (RFC 9110 §8.3.1).
public struct MediaType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The complete text with parameters, as in a field (header).
  public let description: String
  /// Type and subtype in lower case, without parameters.
  public let essence: String

  /// Creates a media type from a field value.
  public init(_ text: String) {
    description = text
    // Most texts are their own essence, which needs no memory then.
    let isEssence = text.utf8.allSatisfy { $0 < 0x80 && $0 != Self.semicolon && !$0.isBlank && !$0.isCapital }
    essence = isEssence ? text : String(Substring(text.utf8.prefix { $0 != Self.semicolon }.trimmed)).lowercased()
  }

  /// Creates a media type from a literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// Whether the media type is JSON or has the suffix `+json` (RFC 6839 §3.1).
  public var isJSON: Bool {
    essence == "application/json" || essence == "text/json" || essence.utf8.suffix(5).elementsEqual("+json".utf8)
  }

  /// Returns the value of a parameter such as `charset`, without quotes, or `nil` if it is missing.
  ///
  /// - Parameter name: the case-insensitive name of the parameter (RFC 9110 §5.6.6).
  public func parameter(_ name: String) -> String? {
    var rest = description.utf8.drop { $0 != Self.semicolon }.dropFirst()
    while !rest.isEmpty {
      let isDelimiter = { (byte: UInt8) in byte == Self.equalsSign || byte == Self.semicolon }
      let found = rest.prefix { !isDelimiter($0) }.trimmed
      rest = rest.drop { !isDelimiter($0) }
      guard rest.popFirst() == Self.equalsSign else { continue }
      let value = rest.first == Self.quote ? Self.unquoted(&rest) : Self.text(rest.prefix { $0 != Self.semicolon })
      rest = rest.drop { $0 != Self.semicolon }.dropFirst()
      if found.lowercasedEqual(name.utf8) { return value }
    }
    return nil
  }

  /// Removes a quoted string (RFC 9110 §5.6.4) from the front and returns its text.
  private static func unquoted(_ rest: inout Substring.UTF8View) -> String {
    var value: [UInt8] = []
    rest = rest.dropFirst()
    while let byte = rest.popFirst(), byte != quote {
      guard let next = byte == UInt8(ascii: "\\") ? rest.popFirst() : byte else { break }
      value.append(next)
    }
    return String(decoding: value, as: UTF8.self)
  }

  private static func text(_ bytes: Substring.UTF8View) -> String {
    String(Substring(bytes.trimmed))
  }

  private static let semicolon = UInt8(ascii: ";")
  private static let equalsSign = UInt8(ascii: "=")
  private static let quote = UInt8(ascii: "\"")

  /// `application/json`
  public static let json: MediaType = "application/json"
  /// `application/problem+json` (RFC 9457)
  package static let problem: MediaType = "application/problem+json"
  /// `application/x-www-form-urlencoded`
  public static let form: MediaType = "application/x-www-form-urlencoded"
  /// `application/octet-stream`
  public static let bytes: MediaType = "application/octet-stream"
  /// `text/plain; charset=utf-8`
  public static let text: MediaType = "text/plain; charset=utf-8"
}
