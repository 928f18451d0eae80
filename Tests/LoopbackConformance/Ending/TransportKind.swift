public import ApusCore
public import ApusTestServer

/// A kind of transport, for tests that all transports share.
public struct TransportKind: Sendable, CustomStringConvertible {
  /// An open transport of the kind.
  public struct Opened: Sendable {
    let transport: any Transport
    let isQuiet: @Sendable () -> Bool
    let shutDown: @Sendable () async -> Void

    /// Creates an open transport from the transport, a check that its connections have no user or waiter, and its
    /// shutdown.
    public init(
      _ transport: any Transport, isQuiet: @escaping @Sendable () -> Bool = { true },
      shutDown: @escaping @Sendable () async -> Void
    ) {
      self.transport = transport
      self.isQuiet = isQuiet
      self.shutDown = shutDown
    }
  }

  /// A capability that the kind lacks.
  public enum Gap: Sendable, Hashable {
    /// Trailer fields and truncated heads crash the process.
    case brokenAnswers
    /// Malformed responses are partly accepted, and malformed content is treated as truncated.
    case strictFraming
    /// The end of an idle connection is detected only on reuse.
    case idleConnections
  }

  /// The name.
  public let description: String
  /// The TLS of the server or its gateway; `nil` for none.
  public let tls: TestServer.TLS?
  /// A function that starts the server's gateway. Default: `nil`, for none.
  public var gateway: Gateway.Start?
  /// The maximum number of times that a request may be sent if its reused connections turn out to be closed.
  public let mostExchanges: Int
  let gaps: Set<Gap>
  let open: @Sendable () -> Opened

  /// The permitted growth of allocated bytes after tens of thousands of calls: more if connections still wait for TLS's
  /// close notification, or if the platform leaks memory in each exchange, as libcurl does on Linux.
  var allowedGrowth: Int { tls == nil && !gaps.contains(.idleConnections) ? 1 << 20 : 12 << 20 }

  /// Creates a kind from a function that opens its transports.
  public init(
    _ description: String, tls: TestServer.TLS? = nil, gaps: Set<Gap> = [],
    open: @escaping @Sendable () -> Opened
  ) {
    self.description = description
    self.tls = tls
    self.gaps = gaps
    self.open = open
    // `URLSession` silently resends requests, more than once.
    mostExchanges = gaps.contains(.idleConnections) ? 6 : 2
  }
}
