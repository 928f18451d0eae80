public import ApusCore
import HTTPTypes
import Synchronization

/// Sends messages through `URLSession`: the transport of Apple platforms, usable on Linux too.
///
/// The session is made for this alone: it keeps no cookies, no cache and no credentials, follows no redirect
/// and has no deadline of its own. It is opened by the first message and lives as long as the transport.
///
/// What `URLSession` decodes arrives decoded: `Content-Encoding` and `Content-Length` are then taken off the
/// head, so that a head never describes other bytes than its content has. Fields of one name are sent as one
/// line, their values joined by commas (RFC 9110 §5.3), and the order of fields is the platform's.
///
/// Proxies are the platform's: its settings on Apple platforms, the environment (`http_proxy`, `https_proxy`,
/// `no_proxy`) on Linux.
///
/// On Linux there are gaps, each with its name in ``knownGaps``.
public final class URLSessionTransport: Transport {
  let options: Options
  private let sessions: Sessions

  /// Makes a transport; nothing is opened yet.
  public init(options: Options = Options()) {
    self.options = options
    sessions = Sessions(options: options)
  }

  /// Sends a message and returns at the head of the answer.
  ///
  /// - Throws: ``TransportError``; `CancellationError` at once when the task is cancelled, however far the
  ///   exchange is: its connection is closed, and nothing is sent when it had not begun.
  public func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try Task.checkCancellation()
    try options.trust.checkSupport()
    let prepared = try await PreparedRequest(request, userAgent: options.userAgent, in: context)
    let exchange = try sessions.exchange(for: prepared, context: context)
    let alarm = context.alarm(for: exchange)
    defer { alarm?.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { exchange.start($0) }
    } onCancel: {
      exchange.cancel()
    }
  }

  /// Ends every exchange and closes all connections; messages sent later are refused.
  ///
  /// Exchanges that run fail with a ``TransportError`` of the kind `broken`. A second time does nothing.
  public func shutDown() {
    sessions.shutDown()
  }

  deinit {
    sessions.shutDown()
  }
}
