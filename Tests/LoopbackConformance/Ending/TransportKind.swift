#if NIO
  public import ApusCore
  public import ApusTestServer

  /// A kind of transport, for tests that all transports share.
  public struct TransportKind: Sendable, CustomStringConvertible {
    /// A transport of the kind.
    public struct Opened: Sendable {
      let transport: any Transport
      let shutDown: @Sendable () async -> Void

      /// A transport, and how it is shut down.
      public init(_ transport: any Transport, shutDown: @escaping @Sendable () async -> Void) {
        self.transport = transport
        self.shutDown = shutDown
      }
    }

    /// What the kind cannot do.
    public enum Gap: Sendable, Hashable {
      /// Trailer fields, and heads that break off, end the process.
      case brokenAnswers
      /// Whatever comes counts as an answer, also where it breaks the rules of one; and what breaks them inside of
      /// content counts as its breaking off.
      case strictFraming
      /// What happens to a connection that nobody uses is noticed only when it is to be used again.
      case idleConnections
    }

    /// The name.
    public let description: String
    /// How a server speaks TLS to it; `nil`: not at all.
    public let tls: TestServer.TLS?
    /// The most times a request may go out, where its connection had been used before and turned out to be closed.
    public let mostExchanges: Int
    let gaps: Set<Gap>
    let open: @Sendable () -> Opened

    /// A kind, by how its transports are made.
    public init(
      _ description: String, tls: TestServer.TLS? = nil, gaps: Set<Gap> = [],
      open: @escaping @Sendable () -> Opened
    ) {
      self.description = description
      self.tls = tls
      self.gaps = gaps
      self.open = open
      // `URLSession` repeats by itself, unseen, and more than once.
      mostExchanges = gaps.contains(.idleConnections) ? 6 : 2
    }
  }
#endif
