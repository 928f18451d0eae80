public import ApusCore
public import ApusTestServer

/// A kind of transport, for tests that all transports share.
public struct TransportKind: Sendable, CustomStringConvertible {
  /// A transport of the kind.
  public struct Opened: Sendable {
    let transport: any Transport
    let isQuiet: @Sendable () -> Bool
    let shutDown: @Sendable () async -> Void

    /// Creates a transport, with a check that nothing waits for or uses its connections, and its shutdown.
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
    /// Malformed responses are accepted as far as they are understood, and malformed content counts as truncated.
    case strictFraming
    /// The end of an idle connection is noticed only when it is reused.
    case idleConnections
  }

  /// The name.
  public let description: String
  /// The server's TLS; `nil` for none.
  public let tls: TestServer.TLS?
  /// The most times a request may be sent if its reused connections turn out to be closed.
  public let mostExchanges: Int
  let gaps: Set<Gap>
  let open: @Sendable () -> Opened

  /// The bytes that may be allocated in addition after tens of thousands of calls: more if connections still wait for
  /// TLS's close notification, or if the platform leaks some with each exchange, as libcurl does on Linux.
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
    // `URLSession` silently sends requests again, more than once.
    mostExchanges = gaps.contains(.idleConnections) ? 6 : 2
  }
}
