public import ApusCore
import HTTPTypes
import Synchronization

/// The transport over `URLSession`, for Apple platforms; usable on Linux too.
///
/// The session has no cookies, cache, credentials or timeouts and follows no redirects. The session opens with the
/// first message and lives as long as the transport.
///
/// Content that `URLSession` decodes arrives decoded; `Content-Encoding` and `Content-Length` are then removed from the
/// head, so that the head always describes the content as it is delivered. Repeated fields are sent as one line, with
/// their values joined by commas (RFC 9110 §5.3), in the platform's order.
///
/// The transport uses the platform's proxies: the system's settings on Apple platforms, the environment (`http_proxy`,
/// `https_proxy`, `no_proxy`) on Linux.
///
/// The page of the module ``ApusURLSession`` lists what `URLSession` cannot do.
public final class URLSessionTransport: Transport {
  let options: Options
  private let sessions: Sessions

  /// Creates a transport. The session is not opened before the first message.
  public init(options: Options = Options()) {
    self.options = options
    sessions = Sessions(options: options)
  }

  /// Sends a message. Returns when the head of the response has arrived, or with the complete response if the call
  /// collects the content.
  ///
  /// - Throws: `TransportError`; `CancellationError` as soon as the task is cancelled. Cancellation closes the
  ///   exchange's connection. If the exchange had not begun, nothing is sent.
  public func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try Task.checkCancellation()
    try options.trust.checkSupport()
    guard options.addresses == .any else { throw DestinationRefusal.uncheckedAddress.error }
    let prepared = try await PlatformRequest(request, userAgent: options.userAgent, in: context)
    let exchange = try sessions.exchange(for: prepared, context: context)
    let alarm = context.alarm(for: exchange)
    defer { alarm?.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { exchange.begin($0) }
    } onCancel: {
      exchange.cancel()
    }
  }

  /// Shuts the transport down: current exchanges fail with a `TransportError` with the code `connectionLost`, later
  /// messages are refused. A second call does nothing.
  public func shutDown() {
    sessions.shutDown()
  }

  deinit {
    sessions.shutDown()
  }
}

extension URLSessionTransport: SelfDescribing {
  /// The transport's limit on connections. If the server supports HTTP/2, several exchanges share a connection, so
  /// exchanges are not limited.
  package var facts: [Fact] {
    let limit = Fact.setting("HTTP/1.1 connections per host", "\(options.maximumConnectionsPerHost)")
    return options.reusesConnections ? [limit] : [limit, .setting("no reuse of connections", "")]
  }
}
