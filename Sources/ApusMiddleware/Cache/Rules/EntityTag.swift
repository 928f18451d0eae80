import ApusCore
import HTTPTypes

/// An entity tag (RFC 9110 §8.8.3), which names a version of a representation.
struct EntityTag: Hashable, Sendable {
  /// The tag with its quotation marks, and without `W/`.
  let opaque: String
  /// Whether equal tags mean equivalent content, not the same bytes.
  let isWeak: Bool

  /// Reads a tag; `nil` if the text is malformed or longer than 1,024 bytes.
  init?(_ text: ArraySlice<UInt8>) {
    let isWeak = text.count > 2 && text[text.startIndex] == UInt8(ascii: "W") && text[text.startIndex + 1] == 0x2F
    let tag = isWeak ? text.dropFirst(2) : text
    guard (2...1024).contains(tag.count), tag.first == FieldList.quote, tag.last == FieldList.quote,
      tag.dropFirst().dropLast().allSatisfy({ $0 == 0x21 || (0x23...0x7E).contains($0) || $0 >= 0x80 })
    else { return nil }
    opaque = String(decoding: tag, as: UTF8.self)
    self.isWeak = isWeak
  }

  /// Reads the tag of a response.
  init?(_ fields: HTTPFields) {
    guard fields.contains(.eTag), let text = fields.single(.eTag) else { return nil }
    self.init(FieldList.trimmed(Array(text.utf8)[...]))
  }

  /// The tag as sent.
  var text: String { isWeak ? "W/" + opaque : opaque }

  /// Whether two tags name the same bytes (RFC 9110 §8.8.3.2).
  func isStronglyEqual(to other: EntityTag) -> Bool { !isWeak && self == other }

  /// Whether two tags name equivalent content (RFC 9110 §8.8.3.2).
  func isWeaklyEqual(to other: EntityTag) -> Bool { opaque == other.opaque }
}

/// The value of `If-None-Match` (RFC 9110 §13.1.2).
enum EntityTagList: Hashable, Sendable {
  /// `*`: any current representation.
  case any
  /// The tags. Malformed tags are left out; they match nothing.
  case tags([EntityTag])

  /// Reads a value, the fields of a message joined by commas.
  init(_ value: String) {
    let elements = FieldList.elements(of: Array(value.utf8)[...], allowsEscapes: false)
    if elements.count == 1, elements[0].elementsEqual("*".utf8) {
      self = .any
    } else {
      self = .tags(elements.compactMap { EntityTag($0) })
    }
  }

  /// Whether a stored response with this tag, if any, is one that the client has already.
  func matches(_ tag: EntityTag?) -> Bool {
    switch self {
    case .any: true
    case .tags(let tags): tag.map { tag in tags.contains { $0.isWeaklyEqual(to: tag) } } ?? false
    }
  }
}
