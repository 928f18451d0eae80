#if NIO
  /// How the end of an answer's content is known (RFC 9112 §6.3).
  enum ResponseFraming: Sendable, Hashable {
    /// There is no content: the answer is to HEAD, has status 204 or 304, or turns the connection into a tunnel.
    case none
    /// So many bytes, perhaps none.
    case length(Int64)
    /// Chunks that say themselves which is the last.
    case chunked
    /// Everything until the connection is closed.
    case untilClose
  }
#endif
