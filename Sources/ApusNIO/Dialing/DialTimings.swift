#if NIO
  /// How long the parts of making a connection took.
  struct DialTimings: Sendable {
    /// Finding the addresses; `nil`: the host was one.
    var lookup: Duration?
    /// From the first attempt to connect to the first success.
    var connect = Duration.zero
    /// The TLS handshake; `nil`: there is none.
    var handshake: Duration?

    /// All of it.
    var total: Duration { (lookup ?? .zero) + connect + (handshake ?? .zero) }
  }
#endif
