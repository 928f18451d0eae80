public import ApusCore
import HTTPTypes
import Synchronization

/// The transport over `URLSession`, for Apple platforms; usable on Linux too.
///
/// The session has no cookies, cache, credentials or time limits and follows no redirects. It opens with the first
/// message and lives as long as the transport.
///
/// Content that `URLSession` decodes arrives decoded; `Content-Encoding` and `Content-Length` are then removed from the
/// head, so that the head always describes the content as it is delivered. Repeated fields are sent as one line, with
/// their values joined by commas (RFC 9110 §5.3), in the platform's order.
///
/// Proxies are the platform's: the system's settings on Apple platforms, the environment (`http_proxy`, `https_proxy`,
/// `no_proxy`) on Linux.
///
/// What `URLSession` cannot do on the current platform is listed in ``knownGaps``.
public final class URLSessionTransport: Transport {
  let options: Options
  private let sessions: Sessions

  /// Creates a transport. The session is not opened before the first message.
  public init(options: Options = Options()) {
    self.options = options
    sessions = Sessions(options: options)
  }

  /// Sends a message. Returns at the head of the response, or with all of it if the call collects the content.
  ///
  /// - Throws: `TransportError`; `CancellationError` as soon as the task is cancelled, which closes the exchange's
  ///   connection. If the exchange had not begun, nothing is sent.
  public func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try Task.checkCancellation()
    try options.trust.checkSupport()
    guard options.addresses == .any else { throw DestinationRefusal.uncheckedAddress.error }
    let prepared = try await PreparedRequest(request, userAgent: options.userAgent, in: context)
    let exchange = try sessions.exchange(for: prepared, context: context)
    let alarm = context.alarm(for: exchange)
    defer { alarm?.cancel() }
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { exchange.begin($0) }
    } onCancel: {
      exchange.cancel()
    }
  }

  /// Shuts the transport down: current exchanges fail with a `TransportError` of the kind `connectionLost`, later
  /// messages are refused. A second call does nothing.
  public func shutDown() {
    sessions.shutDown()
  }

  deinit {
    sessions.shutDown()
  }
}

extension URLSessionTransport: SelfDescribing {
  /// The transport's limit on connections. With HTTP/2, which the platform uses if the server does, several exchanges
  /// share a connection, so exchanges are not limited.
  public var facts: [Fact] {
    let limit = Fact.setting("HTTP/1.1 connections per host", "\(options.maximumConnectionsPerHost)")
    return options.reusesConnections ? [limit] : [limit, .setting("no reuse of connections", "")]
  }
}

extension URLSessionTransport {
  /// A part of the transport contract that `URLSession` cannot fulfill on this platform.
  public struct Gap: Sendable, Hashable, CustomStringConvertible {
    /// A stable name.
    public let name: String
    /// The missing part, and the behavior in its place.
    public let description: String
  }

  /// The gaps of this transport on the current platform; few on Apple platforms.
  public static var knownGaps: [Gap] {
    #if canImport(Security)
    everywhere
    #else
    everywhere + [
      Gap(
        name: "phase timings",
        description: "the trace has no durations of name resolution, connecting, TLS and sending"),
      Gap(name: "trust", description: "pinned keys and client certificates are refused, never ignored"),
      Gap(
        name: "content made while it is sent",
        description: "it is produced first, in memory or a temporary file, and then sent"),
      Gap(name: "GET with content", description: "refused as unsupported; use QUERY or POST"),
      Gap(
        name: "malformed responses",
        description: "the platform crashes the process when a head breaks off or contains a line of NUL, and when a "
          + "chunked response has trailer fields"),
      Gap(
        name: "strict framing",
        description: "responses that break RFC 9112 are accepted as far as the platform understands them, and it has "
          + "its own limits on heads"),
      Gap(
        name: "strict codings",
        description: "coded content that ends too soon is taken for complete; bytes after it, a second member of gzip "
          + "and an unknown coding are refused, without chunks as a lost connection"),
      Gap(name: "interim responses", description: "they are not reported"),
      Gap(
        name: "early responses",
        description: "after a success with Connection: close that comes before the content is sent, the platform stops "
          + "sending, and the call fails; content that the platform has read, up to 64 KiB, counts as sent"),
      Gap(name: "IPv6 addresses", description: "a host written as an IPv6 address cannot be reached"),
    ]
    #endif
  }

  private static let everywhere = [
    Gap(name: "trailers", description: "the platform does not report the fields after the content"),
    Gap(name: "exchange timeouts", description: "they are ignored; calls and attempts have their limits all the same"),
    Gap(name: "address policy", description: "refused, never ignored"),
    Gap(name: "new connections", description: "a call cannot require one; the platform chooses"),
    Gap(
      name: "back-pressure",
      description: "content arrives as fast as the server sends it; unread content is kept in memory"),
  ]
}
