import HTTPTypes

/// A violation of HPACK (RFC 7541). The state of the dynamic table is unknown afterwards, so the violation is a
/// connection error of type COMPRESSION_ERROR (RFC 9113 §4.3).
enum CompressionFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The field block ends inside a field.
  case truncated
  /// An integer exceeds 2³¹ − 1, or has more than five continuation bytes (RFC 7541 §5.1).
  case integerTooLarge
  /// An index is 0, or beyond the static and dynamic tables (RFC 7541 §2.3.3).
  case unknownIndex(Int)
  /// A table size update follows a field (RFC 7541 §4.2).
  case lateTableSize
  /// A table size update exceeds SETTINGS_HEADER_TABLE_SIZE (RFC 7541 §6.3).
  case tableSizeTooLarge(Int)
  /// Huffman-coded text contains the EOS symbol (RFC 7541 §5.2).
  case endOfStringSymbol
  /// The padding of Huffman-coded text has more than seven bits (RFC 7541 §5.2).
  case longPadding
  /// The padding of Huffman-coded text contains a zero bit (RFC 7541 §5.2).
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

/// A malformed or too large field section (RFC 9113 §8.1.1). The dynamic table remains valid, so the fault is a stream
/// error.
struct FieldFault: Error, Sendable, Hashable, CustomStringConvertible {
  /// The rule that was broken.
  enum Rule: UInt8, Sendable, Hashable, CaseIterable {
    /// A field's name is empty or not a token (RFC 9113 §8.2.1).
    case malformedName
    /// A field's name has an upper-case letter (RFC 9113 §8.2.1).
    case upperCaseName
    /// A field is connection-specific (RFC 9113 §8.2.2).
    case connectionField
    /// A field's value contains a control character, or begins or ends with white space (RFC 9113 §8.2.1).
    case malformedValue
    /// A pseudo-header field is not defined for responses (RFC 9113 §8.3).
    case unknownPseudoField
    /// A pseudo-header field occurs twice (RFC 9113 §8.3).
    case repeatedPseudoField
    /// A pseudo-header field follows a regular field (RFC 9113 §8.3).
    case latePseudoField
    /// Trailers contain a pseudo-header field (RFC 9113 §8.1).
    case pseudoFieldInTrailers
    /// A response has no `:status` (RFC 9113 §8.3.2).
    case missingStatus
    /// `:status` is not a three-digit number of at least 100 (RFC 9110 §15).
    case malformedStatus
    /// `:status` is 101, which HTTP/2 does not support (RFC 9113 §8.6).
    case switchingProtocols
    /// `Content-Length` is not a number, or is too large (RFC 9110 §8.6).
    case malformedContentLength
    /// Several values of `Content-Length` differ (RFC 9110 §8.6).
    case conflictingContentLength
    /// The content is shorter or longer than `Content-Length` (RFC 9113 §8.1.1).
    case wrongContentLength
    /// An interim response ends the stream (RFC 9113 §8.1).
    case finalInterim
    /// Trailers do not end the stream (RFC 9113 §8.1).
    case unfinishedTrailers
    /// The number of interim responses exceeds ``FramingLimits/interimCount``.
    case tooManyInterims
    /// The size of the fields exceeds ``FramingLimits/fieldBytes``.
    case fieldsTooLarge
    /// The number of fields exceeds ``FramingLimits/fieldCount``.
    case tooManyFields

    /// Whether the rule concerns the name alone, so that every field with the same name breaks the rule.
    var isAboutName: Bool {
      switch self {
      case .malformedName, .upperCaseName, .connectionField: true
      default: false
      }
    }
  }

  /// The rule that was broken.
  let rule: Rule
  /// The name of the field, or an empty string if the name is unknown or malformed.
  let name: String

  init(_ rule: Rule, _ name: String = "") {
    self.rule = rule
    self.name = String(name.prefix(64))
  }

  /// The error code of the RST_STREAM frame.
  var code: HTTP2ErrorCode {
    switch rule {
    case .fieldsTooLarge, .tooManyFields, .tooManyInterims: .enhanceYourCalm
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
    case .wrongContentLength: "the content is shorter or longer than announced"
    case .finalInterim: "an interim response ends the stream"
    case .unfinishedTrailers: "trailers do not end the stream"
    case .tooManyInterims: "the response has too many interim responses"
    case .fieldsTooLarge: "the response's fields are too large"
    case .tooManyFields: "the response has too many fields"
    }
  }
}
