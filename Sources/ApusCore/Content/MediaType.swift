/// A media type such as `application/json` (RFC 9110 §8.3.1).
public struct MediaType: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
  /// The whole text with its parameters, as it stands in a field.
  public let description: String
  /// Type and subtype in lower case, without parameters.
  public let essence: String

  /// Makes a media type of a field value.
  public init(_ text: String) {
    description = text
    essence = Self.trimmed(text.prefix(upTo: UInt8(ascii: ";"))).lowercased()
  }

  /// Makes a media type of a literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// Whether it is JSON, or a format that is written in JSON (RFC 6839 §3.1).
  public var isJSON: Bool { essence == "application/json" || essence == "text/json" || essence.hasSuffix("+json") }

  /// The value of a parameter such as `charset`, without quotes; `nil` when there is none.
  ///
  /// - Parameter name: in any case (RFC 9110 §5.6.6).
  public func parameter(_ name: String) -> String? {
    var rest = description[...].dropPrefix(upTo: UInt8(ascii: ";"))
    while !rest.isEmpty {
      let found = Self.trimmed(rest.prefix { $0 != "=" && $0 != ";" })
      rest = rest.drop { $0 != "=" && $0 != ";" }
      guard rest.utf8.first == UInt8(ascii: "=") else {
        rest = rest.dropFirst()
        continue
      }
      rest = rest.dropFirst()
      let value = rest.utf8.first == UInt8(ascii: "\"") ? Self.unquoted(&rest) : Self.trimmed(rest.prefix { $0 != ";" })
      rest = rest.dropPrefix(upTo: UInt8(ascii: ";"))
      if found.utf8.lowercasedEqual(name.utf8) { return value }
    }
    return nil
  }

  /// Takes a quoted string (RFC 9110 §5.6.4) off the front.
  private static func unquoted(_ text: inout Substring) -> String {
    var value = ""
    var scalars = text.unicodeScalars.dropFirst()
    while let scalar = scalars.popFirst(), scalar != "\"" {
      guard let next = scalar == "\\" ? scalars.popFirst() : scalar else { break }
      value.unicodeScalars.append(next)
    }
    text = Substring(scalars)
    return value
  }

  private static func trimmed(_ text: Substring) -> String {
    let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    var bytes = text.utf8.drop(while: isSpace)
    while let last = bytes.last, isSpace(last) { bytes.removeLast() }
    return String(Substring(bytes))
  }

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

extension StringProtocol where SubSequence == Substring {
  /// The text before the first `byte`, all of it when there is none.
  fileprivate func prefix(upTo byte: UInt8) -> Substring {
    self[..<(utf8.firstIndex(of: byte) ?? endIndex)]
  }

  /// The text behind the first `byte`, empty when there is none.
  fileprivate func dropPrefix(upTo byte: UInt8) -> Substring {
    utf8.firstIndex(of: byte).map { self[utf8.index(after: $0)...] } ?? self[endIndex...]
  }
}
