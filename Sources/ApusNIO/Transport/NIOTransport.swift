public import ApusCore
import NIOCore
import NIOPosix

/// The transport over SwiftNIO's sockets, for HTTP/2 and HTTP/1.1; the default on Linux.
///
/// The transport has no cookies, cache or credentials and follows no redirects. The transport accepts every status, but
/// refuses responses whose framing breaks RFC 9112 or RFC 9113. Connections are pooled per origin. Cancelling the task
/// closes the exchange's connection immediately, or over HTTP/2 only its stream.
///
/// Content coded with gzip or deflate is decoded, and `Content-Encoding` and `Content-Length` are then removed from
/// the head, so that the head always describes the content as it is delivered.
///
/// A transport closes its connections when it is released; ``shutDown(within:)`` can let current exchanges finish
/// first.
public final class NIOTransport: Transport {
  let core: TransportCore

  /// `true`: a call that ends while it waits for a connection is known not to be sent.
  public var reportsConnections: Bool { true }

  /// Creates a transport. No connection is opened before the first message.
  public init(options: Options = Options()) {
    core = TransportCore(options: options)
  }

  init(options: Options, resolver: NameResolver) {
    core = TransportCore(options: options, resolver: resolver)
  }

  /// Sends a message. Returns when the head of the response has arrived, or with the complete response if the call
  /// collects the content.
  ///
  /// - Throws: `TransportError`; `CancellationError` as soon as the task is cancelled. Cancellation closes the
  ///   exchange's connection or stream. If the exchange had not begun, nothing is sent.
  public func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try Task.checkCancellation()
    let exchange = try core.makeExchange(for: request, context: context)
    var alarm: DeadlineAlarm?
    defer { alarm?.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation {
        core.begin(exchange, $0)
        // The alarm is set only after `begin`: before, there is no exchange to end.
        alarm = context.alarm(for: exchange)
      }
    } onCancel: {
      exchange.cancel()
    }
  }

  /// Shuts the transport down: refuses new messages, waits up to `grace` for current exchanges, then closes all
  /// connections. With the default of zero, current exchanges fail immediately.
  ///
  /// When the function returns, every connection is closed. A second call only waits for the first. In a cancelled
  /// task the shutdown completes as well, without the grace period.
  ///
  /// - Parameter grace: the time in which current exchanges may finish. An exchange that is not complete by then fails
  ///   with a `TransportError` with the code `connectionLost`. Default: zero.
  public func shutDown(within grace: Duration = .zero) async {
    await core.shutDown(within: grace)
  }

  deinit {
    core.close()
  }
}

// MARK: - Usage

extension NIOTransport {
  /// The connections and waiting messages of a transport at one instant, for gauges and for tests that detect leaks.
  public struct Usage: Sendable, Hashable {
    /// The connections that carry an exchange, or are being closed after an exchange.
    public var inUse = 0
    /// The idle connections.
    public var idle = 0
    /// The connections being made.
    public var connecting = 0
    /// The messages that wait for a connection.
    public var waiting = 0

    package init() {}
  }

  /// The current usage, over all origins.
  public var usage: Usage {
    let counts = core.counts
    var usage = Usage()
    (usage.inUse, usage.idle, usage.connecting, usage.waiting) =
      (counts.active, counts.idle, counts.connecting, counts.waiting)
    return usage
  }
}

extension NIOTransport: SelfDescribing {
  /// The transport's limits and its proxy. Excludes the proxy's credentials and the trusted authorities.
  package var facts: [Fact] {
    let options = core.options
    var facts: [Fact] = [
      .connections(perOrigin: options.maximumConnectionsPerOrigin, total: options.maximumConnections),
      .setting("protocols", options.protocols.map { "HTTP/\($0.rawValue)" }.joined(separator: ", ")),
      .time("connect limit", options.connectTimeout), .time("first byte limit", options.firstByteTimeout),
      .time("stall limit", options.stallTimeout), .time("idle limit", options.idleTimeout),
    ]
    if let waiting = options.maximumWaiting { facts.append(.setting("queue", "\(waiting)")) }
    if let age = options.maximumConnectionAge { facts.append(.time("age limit", age)) }
    switch options.proxy {
    case .none: break
    case .proxy(let proxy): facts.append(.setting("proxy", "\(proxy)"))
    case .environment: facts.append(.setting("proxy", "from the environment"))
    }
    return facts
  }
}
