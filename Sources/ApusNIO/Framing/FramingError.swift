#if NIO
  /// Why bytes are no HTTP/1.1 answer, or a head cannot be written as one request.
  ///
  /// After one of these a connection's framing is unknown: it can only be closed (RFC 9112 §6.3).
  public struct FramingError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The rule that is broken, one case each.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
      /// The first line is not version, status and reason (RFC 9112 §4).
      case malformedStatusLine
      /// The version is not HTTP/1 (RFC 9112 §2.3).
      case unsupportedVersion
      /// A line ends with LF alone, or holds a CR that ends nothing (RFC 9112 §2.2).
      case malformedLineEnd
      /// A field line has no colon, or its name is no token (RFC 9112 §5).
      case malformedFieldName
      /// White space between a field's name and its colon (RFC 9112 §5.1).
      case spaceBeforeColon
      /// A field line that begins with white space: obsolete folding (RFC 9112 §5.2).
      case foldedField
      /// A control character in a field's value, NUL among them (RFC 9110 §5.5).
      case malformedFieldValue
      /// More bytes of fields than ``NIOTransport/Limits/fieldBytes``.
      case fieldsTooLarge
      /// More fields than ``NIOTransport/Limits/fields``.
      case tooManyFields
      /// More interim responses than ``NIOTransport/Limits/interimResponses``.
      case tooManyInterimResponses
      /// A switch to another protocol that nobody asked for (RFC 9110 §15.2.2).
      case unexpectedUpgrade
      /// A Content-Length that is no number, or too large a one (RFC 9110 §8.6).
      case malformedContentLength
      /// Several lengths that differ (RFC 9112 §6.3).
      case conflictingContentLength
      /// A Transfer-Encoding other than one `chunked`, or one in HTTP/1.0 (RFC 9112 §6.1).
      case malformedTransferEncoding
      /// Transfer-Encoding and Content-Length together (RFC 9112 §6.3).
      case lengthAndTransferEncoding
      /// A chunk's size is not hexadecimal, has too many digits, or is too large (RFC 9112 §7.1).
      case malformedChunkSize
      /// A chunk extension breaks the grammar (RFC 9112 §7.1.1).
      case malformedChunkExtension
      /// Longer chunk extensions than are allowed.
      case chunkExtensionsTooLarge
      /// A chunk is longer or shorter than it said (RFC 9112 §7.1).
      case malformedChunkEnd
      /// The connection ended before a byte of the answer came.
      case noAnswer
      /// The connection ended inside the answer (RFC 9112 §8).
      case truncated
      /// The connection ended without TLS saying so where only that marks the end of the content (RFC 9112 §9.8).
      case uncleanEnd
      /// Bytes where no answer is awaited (RFC 9112 §9.2).
      case unsolicited
      /// An answer is awaited before the one before it has ended.
      case outOfOrder
      /// A request's method is no token.
      case invalidMethod
      /// A request's target, scheme or authority holds what it may not, or is missing (RFC 9112 §3.2).
      case invalidTarget
      /// A request's field is the transport's to set, or holds what it may not.
      case invalidField
    }

    /// The rule that is broken.
    public let kind: Kind
    /// What exactly is wrong, for logs. Holds neither values of fields nor content.
    public let detail: String

    init(_ kind: Kind, _ detail: String) {
      self.kind = kind
      self.detail = detail
    }

    /// Kind and detail.
    public var description: String { "\(kind.rawValue): \(detail)" }
  }
#endif
