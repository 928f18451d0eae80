public import ApusCore
import HTTPTypes

extension NIOTransport {
  /// The options of a transport: connections, timeouts, TLS, proxy.
  public struct Options: Sendable {
    /// The event loops that serve connections. Default: the event loops that the whole process shares.
    public var eventLoops = EventLoops.shared
    /// The versions of HTTP that may be used, the preferred one first. Default: HTTP/2, then HTTP/1.1.
    ///
    /// Over TLS the server chooses (ALPN, RFC 7301); a server that chooses none speaks HTTP/1.1. Without TLS nothing is
    /// negotiated: HTTP/1.1 is used if it is permitted, and `[.http2]` alone means HTTP/2 with prior knowledge (RFC
    /// 9113 §3.3). An HTTP/2 connection carries as many exchanges at a time as the server permits. Pushes and
    /// priorities are not supported, and connections are never shared between origins.
    public var protocols: [HTTPVersion] = [.http2, .http1]
    /// The maximum number of connections to one origin; further exchanges wait. An HTTP/2 connection carries many
    /// exchanges, and another one is made only when the server permits no further streams on it. HTTP/1.1 connections
    /// whose content is being streamed do not count toward this limit, so that event streams and long downloads do not
    /// block other exchanges. Nor do HTTP/2 connections that take no exchanges for now: after GOAWAY, or because their
    /// readers have left more than 8 MiB unread. Such connections count only toward ``maximumConnections``. Default:
    /// 16.
    public var maximumConnectionsPerOrigin = 16
    /// The maximum number of connections to all origins, streaming connections included; further exchanges wait.
    /// Default: 256.
    public var maximumConnections = 256
    /// The maximum number of exchanges, over all origins, that wait while no further connection may be made.
    /// Further exchanges fail with the code `refused`; nothing was sent. `nil`: no limit. Default: `nil`.
    public var maximumWaiting: Int?
    /// The time after which an idle connection is closed. Default: 60 seconds.
    public var idleTimeout = Duration.seconds(60)
    /// The age beyond which a connection is not reused; an exchange in progress may finish. `nil`: no limit.
    /// Default: `nil`.
    public var maximumConnectionAge: Duration?
    /// The timeout for name resolution, connecting and TLS together. `nil`: no limit. Default: 10 seconds.
    ///
    /// A call that exceeds this timeout, ``firstByteTimeout`` or ``stallTimeout`` fails with the code `timeout`; the
    /// error's phase identifies the timeout. `ExchangeTimeouts` sets the timeouts of one call.
    public var connectTimeout: Duration? = .seconds(10)
    /// The timeout for the head of the response, from the moment the request has left. `nil`: no limit. Default: 60
    /// seconds. A call with a longer timeout (`.timeout(_:)`) waits until that timeout.
    public var firstByteTimeout: Duration? = .seconds(60)
    /// The maximum time without a byte in either direction while content is transferred. Time during which the caller
    /// does not read the response, or is still producing content, does not count toward this limit. `nil`: no limit.
    /// Default: 20 seconds.
    ///
    /// A byte of the request is transferred when the server's operating system has acknowledged it, not when the local
    /// operating system has accepted it (on Linux and Apple platforms, which report this). A server that reads slowly
    /// acknowledges in steps of one segment or a sixteenth of its receive buffer. The larger of the two is the step:
    /// usually about 8 KiB, over loopback up to 64 KiB. So the slowest upload that does not stall transfers one such
    /// step in this time, about 0.4 KiB/s with the default.
    public var stallTimeout: Duration? = .seconds(20)
    /// Whether a request is retried, once and on a new connection, if its reused connection turns out to be closed or
    /// to contain unsolicited bytes. The request is retried only if no byte of the response has arrived. In addition,
    /// either nothing was written, or the request is replayable and repeatable: by its method, its endpoint's
    /// declaration or an idempotency key. The trace records the retry. Default: `true`.
    public var retriesOnStaleConnection = true
    /// The trusted authorities, pins and the client's identity. Default: the system's authorities, no client
    /// identity.
    public var trust = Trust()
    /// The addresses that the transport may connect to. Default: any.
    ///
    /// A call whose host has no allowed address fails with the code `refused`, and no connection is made. With a policy
    /// and a proxy for the origin, every call is refused, because the proxy would resolve the name.
    public var addresses = AddressPolicy.any
    /// The limits on a response.
    public var limits = ResponseLimits()
    /// Whether gzip and deflate are offered to servers and decoded, within ``limits``. Messages with their own
    /// `Accept-Encoding` are sent unchanged, and their responses are not decoded. Default: `true`.
    ///
    /// Up to 4 KiB that follow complete gzip content, such as a line end or padding, are skipped, and the trace records
    /// their number. If the response has a digest (RFC 9530), these bytes are an error.
    public var decompressesContent = true
    /// The proxy. Default: none.
    public var proxy = ProxyMode.none
    /// The `User-Agent` of messages that do not set this field. Default: `apus`.
    public var userAgent = "apus"

    /// Creates the default options.
    public init() {}
  }

  /// The limits on a response, apart from the length of content that a call accepts (`contentLimit`).
  ///
  /// A response that exceeds a limit fails with the code `malformedResponse` or, if its content is too long,
  /// `contentTooLarge`. The error's detail names the limit. A response may have up to 5 content codings.
  public struct ResponseLimits: Sendable, Hashable {
    /// The maximum number of bytes of status lines and field lines, interim responses and trailers included.
    /// Default: 256 KiB.
    public var fieldBytes = 256 << 10
    /// The maximum number of fields (headers), including the fields of interim responses and trailers; at most 60,000.
    /// Default: 1,000.
    public var fieldCount = 1000
    /// The maximum number of interim responses before the final response (RFC 9110 §15.2). Default: 64.
    public var interimResponses = 64
    /// The maximum number of consecutive HTTP/2 frames without content, such as PING, SETTINGS or empty DATA. Each byte
    /// of content in either direction permits one more, and a response head resets the count. Default: 1,000.
    public var controlFrames = 1000
    /// The maximum number of content codings to decode, over all `Content-Encoding` fields.
    package var contentCodings = 5
    /// The maximum number of decoded bytes. Beyond 8 MiB they may be at most 200 times as many as the received bytes.
    /// Default: 1 GiB.
    public var decodedBytes: Int64 = 1 << 30
    /// The maximum ratio of decoded bytes to received bytes, beyond `ratioFreeBytes`.
    package var decodedRatio: Int64 = 200
    /// The number of decoded bytes permitted at any ratio, because short responses can be very repetitive.
    package var ratioFreeBytes: Int64 = 8 << 20

    /// Creates the default limits.
    public init() {}
  }
}

// MARK: - Validation

extension NIOTransport.Options {
  /// Checks the options for impossible values, such as a limit of zero connections.
  ///
  /// A transport with such options does not trap: each of its calls fails with this error and the code
  /// `invalidRequest`.
  ///
  /// - Throws: `TransportError` with the code `invalidRequest`. The error's detail names the option.
  public func validate() throws(TransportError) {
    for (isSensible, rule) in rules where !isSensible {
      throw TransportError(.invalidRequest, requestState: .notSent, detail: "the transport's option \(rule)")
    }
  }

  private var rules: [(Bool, String)] {
    pool + times + responses + [
      (eventLoops.isSensible, "eventLoops: at least one"),
      (!protocols.isEmpty && Set(protocols).count == protocols.count, "protocols: at least one, none twice"),
      (HTTPField.isValidValue(userAgent), "userAgent: no control characters"),
      (proxy.fault == nil, "proxy: \(proxy.fault ?? "")"),
    ]
  }

  private var pool: [(Bool, String)] {
    [
      (maximumConnectionsPerOrigin >= 1, "maximumConnectionsPerOrigin: at least 1"),
      (maximumConnections >= 1, "maximumConnections: at least 1"),
      (maximumWaiting ?? 0 >= 0, "maximumWaiting: not negative"),
    ]
  }

  private var times: [(Bool, String)] {
    [
      (idleTimeout >= .zero, "idleTimeout: not negative"),
      (maximumConnectionAge ?? .zero >= .zero, "maximumConnectionAge: not negative"),
      (connectTimeout.isPositive, "connectTimeout: positive"),
      (firstByteTimeout.isPositive, "firstByteTimeout: positive"),
      (stallTimeout.isPositive, "stallTimeout: positive"),
    ]
  }

  private var responses: [(Bool, String)] {
    [
      (limits.fieldBytes >= 1, "limits.fieldBytes: at least 1"),
      // HTTPFields traps at 65,535.
      ((1...60_000).contains(limits.fieldCount), "limits.fieldCount: from 1 to 60,000"),
      (limits.interimResponses >= 0, "limits.interimResponses: not negative"),
      (limits.controlFrames >= 1, "limits.controlFrames: at least 1"),
      (limits.contentCodings >= 0, "limits.contentCodings: not negative"),
      (limits.decodedBytes >= 0, "limits.decodedBytes: not negative"),
      (limits.decodedRatio >= 1, "limits.decodedRatio: at least 1"),
      (limits.ratioFreeBytes >= 0, "limits.ratioFreeBytes: not negative"),
    ]
  }
}

extension Duration? {
  /// Whether the duration is positive or absent.
  fileprivate var isPositive: Bool { map { $0 > .zero } ?? true }
}

extension NIOTransport.EventLoops {
  fileprivate var isSensible: Bool {
    if case .dedicated(let count) = self { return count >= 1 }
    return true
  }
}

extension NIOTransport.ProxyMode {
  fileprivate var fault: String? {
    guard case .proxy(let proxy) = self else { return nil }
    return proxy.fault
  }
}

// MARK: - Settings of the parts

extension PoolLimits {
  init(_ options: NIOTransport.Options) {
    self.init(
      connectionsPerOrigin: options.maximumConnectionsPerOrigin, connections: options.maximumConnections,
      waiting: options.maximumWaiting ?? .max, idleTimeout: options.idleTimeout,
      maximumAge: options.maximumConnectionAge)
  }
}

extension FrameReader.Limits {
  init(_ limits: NIOTransport.ResponseLimits) {
    self.init(
      blockBytes: max(FrameReader.maximumFrameSize, limits.fieldBytes), controlFrames: limits.controlFrames,
      framing: FramingLimits(limits))
  }
}

extension FramingLimits {
  init(_ limits: NIOTransport.ResponseLimits) {
    self.init(fieldBytes: limits.fieldBytes, fieldCount: limits.fieldCount, interimCount: limits.interimResponses)
  }
}

extension CodingLimits {
  init(_ limits: NIOTransport.ResponseLimits) {
    self.init(
      length: limits.decodedBytes, ratio: limits.decodedRatio, ratioAllowance: limits.ratioFreeBytes,
      chainLength: limits.contentCodings)
  }
}
