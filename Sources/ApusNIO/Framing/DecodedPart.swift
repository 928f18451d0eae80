#if NIO
  import HTTPTypes
  import NIOCore

  /// One step of an answer, in the order of the wire: any number of interim responses, the head, content, the end.
  enum DecodedPart: Sendable, Equatable {
    /// A 1xx response that announces the final one (RFC 9110 §15.2).
    case interim(HTTPResponse)
    /// The final response's status and fields.
    case head(HTTPResponse, ResponseFraming)
    /// Some bytes of content, never none; a slice of what was read, not a copy.
    case content(ByteBuffer)
    /// The answer is complete; trailers are as they came. `canReuse` tells whether the connection may carry another
    /// exchange.
    case end(trailers: HTTPFields, canReuse: Bool)
  }
#endif
