#if NIO
  /// What a request line names (RFC 9112 §3.2).
  enum TargetForm: Sendable, Hashable {
    /// Path and query, or `*` for OPTIONS: to the server itself, also through a tunnel.
    case origin
    /// The whole URL: to a proxy that forwards it.
    case absolute
    /// Host and port: CONNECT alone.
    case authority
  }
#endif
