/// An error in the framing of an HTTP/1.1 response, or in a request head that cannot be written.
///
/// After an error in a response the state of the connection is unknown; it can only be closed (RFC 9112 §6.3).
struct FramingError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The rule that was broken.
  enum Kind: String, Sendable, Hashable, CaseIterable {
    /// The first line is not version, status and reason (RFC 9112 §4).
    case malformedStatusLine
    /// The version is not HTTP/1 (RFC 9112 §2.3).
    case unsupportedVersion
    /// A line ends with a bare LF, or contains a CR elsewhere (RFC 9112 §2.2).
    case malformedLineEnd
    /// A field line has no colon, or its name is not a token (RFC 9112 §5).
    case malformedFieldName
    /// White space stands between a field's name and its colon (RFC 9112 §5.1).
    case spaceBeforeColon
    /// A field line begins with white space: obsolete line folding (RFC 9112 §5.2).
    case foldedField
    /// A field's value contains a control character, such as NUL (RFC 9110 §5.5).
    case malformedFieldValue
    /// More bytes of fields than ``NIOTransport/ResponseLimits/fieldBytes``.
    case fieldsTooLarge
    /// More fields than ``NIOTransport/ResponseLimits/fieldCount``.
    case tooManyFields
    /// More interim responses than ``NIOTransport/ResponseLimits/interimResponses``.
    case tooManyInterimResponses
    /// The server switches protocols without an upgrade request (RFC 9110 §15.2.2).
    case unexpectedUpgrade
    /// `Content-Length` is not a number, or is too large (RFC 9110 §8.6).
    case malformedContentLength
    /// Several values of `Content-Length` differ (RFC 9112 §6.3).
    case conflictingContentLength
    /// `Transfer-Encoding` is not a single `chunked`, or occurs in HTTP/1.0 (RFC 9112 §6.1).
    case malformedTransferEncoding
    /// `Transfer-Encoding` and `Content-Length` occur together (RFC 9112 §6.3).
    case lengthAndTransferEncoding
    /// A chunk's size is not hexadecimal, has too many digits, or is too large (RFC 9112 §7.1).
    case malformedChunkSize
    /// A chunk extension breaks the grammar (RFC 9112 §7.1.1).
    case malformedChunkExtension
    /// Chunk extensions are longer than allowed.
    case chunkExtensionsTooLarge
    /// A chunk's content is not followed by CRLF: it is longer or shorter than announced (RFC 9112 §7.1).
    case malformedChunkEnd
    /// The connection closed before the first byte of the response.
    case noResponse
    /// The connection closed inside the response (RFC 9112 §8).
    case truncated
    /// The connection closed without TLS's close notification, although only that marks the end of this content (RFC
    /// 9112 §9.8).
    case uncleanEnd
    /// Bytes arrived while no response was expected (RFC 9112 §9.2).
    case unsolicited
    /// A response was expected before the previous response ended.
    case outOfOrder
    /// A request's method is not a token.
    case invalidMethod
    /// A request's target, scheme or authority is missing or contains a forbidden character (RFC 9112 §3.2).
    case invalidTarget
    /// A request's field is reserved for the transport or contains a forbidden character.
    case invalidField
  }

  /// The rule that was broken.
  let kind: Kind
  /// A description for logs. Contains neither field values nor content.
  let detail: String

  init(_ kind: Kind, _ detail: String) {
    self.kind = kind
    self.detail = detail
  }

  /// The kind and the detail.
  var description: String { "\(kind.rawValue): \(detail)" }
}
