#if NIO
  /// How a request says where its content ends (RFC 9112 §6.3).
  enum RequestFraming: Sendable, Hashable {
    /// There is no content, and no field about it.
    case none
    /// So many bytes, perhaps none; not negative.
    case length(Int64)
    /// Chunks; for content whose length is not known.
    case chunked
  }
#endif
