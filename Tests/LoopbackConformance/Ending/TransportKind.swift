#if NIO
  public import ApusCore
  public import ApusTestServer

  /// A kind of transport, for tests that all transports share.
  public struct TransportKind: Sendable, CustomStringConvertible {
    /// A transport of the kind.
    public struct Opened: Sendable {
      let transport: any Transport
      let isQuiet: @Sendable () -> Bool
      let shutDown: @Sendable () async -> Void

      /// A transport, whether nothing waits for a connection or uses one, and how it is shut down.
      public init(
        _ transport: any Transport, isQuiet: @escaping @Sendable () -> Bool = { true },
        shutDown: @escaping @Sendable () async -> Void
      ) {
        self.transport = transport
        self.isQuiet = isQuiet
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

    /// How many bytes more may be allocated after tens of thousands of calls than before: more where TLS still says
    /// farewell on connections, or the platform loses some with each exchange, as libcurl does on Linux.
    var allowedGrowth: Int { tls == nil && !gaps.contains(.idleConnections) ? 1 << 20 : 12 << 20 }

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
