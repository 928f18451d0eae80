import ApusCore
import HTTPTypes

/// A strong validator of a representation: two responses with the same validator have the same bytes (RFC 9110 §8.8.1).
enum Validator: Hashable, Sendable {
  /// A strong entity tag with its quotes.
  case entityTag(String)
  /// A modification date that is old enough to be strong, as the server wrote it.
  case lastModified(String)

  /// Creates the strong validator of a response; `nil` if the response has no strong validator.
  init?(_ fields: HTTPFields) {
    if let tag = Self.strongTag(fields[.eTag]) {
      self = .entityTag(tag)
    } else if let text = fields[.lastModified], let changed = HTTPDate.parse(text),
      let date = fields[.date].flatMap({ HTTPDate.parse($0) }), date - changed >= Self.strongAge
    {
      self = .lastModified(text)
    } else {
      return nil
    }
  }

  /// The value of `If-Range` (RFC 9110 §13.1.5).
  var ifRange: String {
    switch self {
    case .entityTag(let tag): tag
    case .lastModified(let date): date
    }
  }

  /// Whether a partial response comes from the same representation.
  ///
  /// A server must repeat the entity tag that it would have sent with the complete representation. The server may leave
  /// out the modification date, because the request named it (RFC 9110 §15.3.7).
  func isConfirmed(by fields: HTTPFields) -> Bool {
    switch self {
    case .entityTag(let tag): Self.strongTag(fields[.eTag]) == tag
    case .lastModified(let date): (fields[.lastModified] ?? date) == date
    }
  }

  /// Whether a response states a validator of another representation.
  func isContradicted(by fields: HTTPFields) -> Bool {
    switch self {
    case .entityTag(let tag): fields[.eTag].map { $0 != tag } ?? false
    case .lastModified(let date): fields[.lastModified].map { $0 != date } ?? false
    }
  }

  /// The number of seconds for which a file must be unmodified at the response's date: a modification date has a
  /// resolution of one second and is strong only then (RFC 9110 §8.8.2.2).
  private static let strongAge: Int64 = 60

  /// Returns the tag if it is strong and well-formed (RFC 9110 §8.8.3).
  private static func strongTag(_ text: String?) -> String? {
    guard let text, (2...1024).contains(text.utf8.count), text.utf8.first == quote, text.utf8.last == quote else {
      return nil
    }
    let isTag = text.utf8.dropFirst().dropLast().allSatisfy { $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80 }
    return isTag ? text : nil
  }

  private static let quote = UInt8(ascii: "\"")
}
