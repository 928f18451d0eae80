#if NIO
  /// An error on a connection that no fault asked for and that is not the client's leaving.
  public struct ConnectionFailure: Sendable, Hashable {
    /// The number of the connection.
    public let connection: Int
    /// The error in words.
    public let reason: String
  }
#endif
