#if NIO
  /// Why what a test waits for will never come.
  public enum TestServerError: Error, Sendable {
    /// The server was shut down, and what was waited for had not happened.
    case shutDown
    /// The exchange ended in another way than the client's closing the connection.
    case endedOtherwise(Exchange.Outcome)
    /// There is no exchange of that number, or none any more.
    case unknownExchange(Int)
    /// The server listens on no port.
    case noPort
  }
#endif
