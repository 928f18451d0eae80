import HTTPTypes

/// A violation of HPACK (RFC 7541). The state of the table is unknown after it, so that the connection ends with
/// COMPRESSION_ERROR (RFC 9113 §4.3).
enum CompressionFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The block ends inside a field.
  case truncated
  /// An integer exceeds 2³¹ − 1, or has more bytes than such an integer needs (RFC 7541 §5.1).
  case integerTooLarge
  /// An index is 0, or beyond both tables (RFC 7541 §2.3.3).
  case unknownIndex(Int)
  /// A table size update follows a field (RFC 7541 §4.2).
  case lateTableSize
  /// A table size update exceeds the announced maximum (RFC 7541 §6.3).
  case tableSizeTooLarge(Int)
  /// Huffman-coded text contains the symbol for its end (RFC 7541 §5.2).
  case endOfStringSymbol
  /// The padding of Huffman-coded text has more than seven bits (RFC 7541 §5.2).
  case longPadding
  /// The padding of Huffman-coded text has a bit that is not one (RFC 7541 §5.2).
  case wrongPadding

  var description: String {
    switch self {
    case .truncated: "a field block ends inside a field"
    case .integerTooLarge: "a field block has an integer above 2^31 - 1"
    case .unknownIndex(let index): "a field block refers to the field \(index), which no table has"
    case .lateTableSize: "a field block changes the table's size after a field"
    case .tableSizeTooLarge(let size): "a field block sets the table's size to \(size), above the announced maximum"
    case .endOfStringSymbol: "Huffman-coded text contains the symbol for its end"
    case .longPadding: "the padding of Huffman-coded text has more than seven bits"
    case .wrongPadding: "the padding of Huffman-coded text has a bit that is not one"
    }
  }
}

/// A malformed or too large field section (RFC 9113 §8.1.1). The table is right after it, so that only the stream ends.
struct FieldFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The rule that was broken.
  enum Rule: UInt8, Sendable, Hashable, CaseIterable {
    /// A field's name is empty or not a token (RFC 9113 §8.2.1).
    case malformedName
    /// A field's name has an upper-case letter (RFC 9113 §8.2.1).
    case upperCaseName
    /// A field is about one connection (RFC 9113 §8.2.2).
    case connectionField
    /// A field's value contains a control character, or begins or ends with white space (RFC 9113 §8.2.1).
    case malformedValue
    /// A pseudo-field is not defined for responses (RFC 9113 §8.3).
    case unknownPseudoField
    /// A pseudo-field occurs twice (RFC 9113 §8.3).
    case repeatedPseudoField
    /// A pseudo-field follows a field (RFC 9113 §8.3).
    case latePseudoField
    /// Trailers have a pseudo-field (RFC 9113 §8.1).
    case pseudoFieldInTrailers
    /// A response has no `:status` (RFC 9113 §8.3.2).
    case missingStatus
    /// `:status` is not a number of three digits from 100 (RFC 9110 §15).
    case malformedStatus
    /// `:status` is 101, which HTTP/2 does not have (RFC 9113 §8.6).
    case switchingProtocols
    /// `Content-Length` is not a number, or is too large (RFC 9110 §8.6).
    case malformedContentLength
    /// Several values of `Content-Length` differ (RFC 9110 §8.6).
    case conflictingContentLength
    /// More bytes of fields than ``FramingLimits/fieldBytes``.
    case fieldsTooLarge
    /// More fields than ``FramingLimits/fieldCount``.
    case tooManyFields

    /// Whether the rule is about a name, so that every field with that name breaks it.
    var isAboutName: Bool {
      switch self {
      case .malformedName, .upperCaseName, .connectionField: true
      default: false
      }
    }
  }

  /// The rule that was broken.
  let rule: Rule
  /// The name of the field, empty if it is unknown or malformed.
  let name: String

  init(_ rule: Rule, _ name: String = "") {
    self.rule = rule
    self.name = String(name.prefix(64))
  }

  /// The code with which the stream is reset.
  var code: HTTP2ErrorCode {
    switch rule {
    case .fieldsTooLarge, .tooManyFields: .enhanceYourCalm
    default: .protocolError
    }
  }

  /// A description for logs. Contains no field values.
  var description: String {
    switch rule {
    case .malformedName: "a field's name is not a token"
    case .upperCaseName: "a field's name has an upper-case letter"
    case .connectionField: "HTTP/2 does not allow the field \(name)"
    case .malformedValue: "the value of \(name) has a control character, or white space at an end"
    case .unknownPseudoField: "a response has the pseudo-field \(name)"
    case .repeatedPseudoField: "the pseudo-field \(name) occurs twice"
    case .latePseudoField: "the pseudo-field \(name) follows a field"
    case .pseudoFieldInTrailers: "trailers have the pseudo-field :status"
    case .missingStatus: "a response has no :status"
    case .malformedStatus: ":status is not a number of three digits"
    case .switchingProtocols: ":status is 101, which HTTP/2 does not have"
    case .malformedContentLength: "the content's length is not a number or is too large"
    case .conflictingContentLength: "the response has several lengths"
    case .fieldsTooLarge: "the response's fields are too large"
    case .tooManyFields: "the response has too many fields"
    }
  }
}
