#if NIO
  extension NIOTransport {
    /// What a transport holds at a moment: for gauges, and for tests that prove that nothing is left behind.
    public struct Usage: Sendable, Hashable {
      /// Connections that carry an exchange, or are being closed after one.
      public var active = 0
      /// Connections that are kept for the next exchange.
      public var idle = 0
      /// Connections that are being made.
      public var connecting = 0
      /// Messages that wait for a connection.
      public var waiting = 0

      /// Nothing at all.
      public init() {}
    }

    /// What the transport holds now, to all origins together.
    public var usage: Usage { core.usage }
  }
#endif
