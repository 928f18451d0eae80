#if NIO
  /// Bytes from a client that were no HTTP/1.1 request; the server answered 400 and closed the connection.
  public struct Rejection: Sendable, Hashable {
    /// The number of the connection they came on.
    public let connection: Int
    /// What was wrong with them.
    public let reason: String
  }
#endif
