#if NIO
  public import ApusCore
  import HTTPTypes

  extension NIOTransport {
    /// The options of a transport: connections, time limits, TLS, proxy.
    public struct Options: Sendable {
      /// The event loops that serve connections. Default: those shared by the whole process.
      public var eventLoops = EventLoops.shared
      /// The most connections to one origin; further exchanges wait for one. Connections whose content is being streamed
      /// do not count, so that event streams and long downloads do not block other exchanges: the pool grows with them,
      /// up to ``connections``. Default: 16.
      public var connectionsPerOrigin = 16
      /// The most connections to all origins, streaming ones included; further exchanges wait. Default: 256.
      public var connections = 256
      /// The most exchanges that wait, over all origins, while no further connection may be made. One more fails with the
      /// code `declined`; nothing was sent. `nil`: no limit. Default: `nil`.
      public var waiting: Int?
      /// The time after which an idle connection is closed. Default: 60 seconds.
      public var idleTimeout = Duration.seconds(60)
      /// The age beyond which a connection is not reused; an exchange on it may end. `nil`: no limit. Default: `nil`.
      public var maximumAge: Duration?
      /// The time limit for name resolution, connecting and TLS together. `nil`: no limit. Default: 10 seconds.
      ///
      /// A call that exceeds this limit or one of the next two fails with the code `timeout`, and its phase tells which.
      /// `ExchangeTimeouts` sets limits for one call.
      public var connectTimeout: Duration? = .seconds(10)
      /// The time limit for the head of the response, from the moment the request has left. `nil`: no limit. Default: 60
      /// seconds. A call with a longer timeout of its own (`.timeout(_:)`) waits as long as that.
      public var firstByteTimeout: Duration? = .seconds(60)
      /// The longest time in which no byte moves in either direction while content is on its way. Time in which the caller
      /// does not read the response, or is still producing content, does not count. `nil`: no limit. Default: 20 seconds.
      ///
      /// A byte of the request has moved when the server's system has confirmed it, not when this system has accepted it
      /// (on Linux and Apple platforms, which report it). A system that reads slowly confirms in steps of one segment or a
      /// sixteenth of its receive buffer, whichever is more: usually about 8 KiB, over loopback up to 64 KiB. So the
      /// slowest upload that does not stall moves one such step in this time, about 0.4 KiB/s with the default.
      public var stallTimeout: Duration? = .seconds(20)
      /// Whether a request is sent again, once and on a new connection, when its reused connection turns out to be closed
      /// or to hold unsolicited bytes. It is sent again only if no byte of the response has arrived, and either nothing
      /// was written, or the request is replayable and repeatable: by its method, as its endpoint declares, or because it
      /// has an idempotency key. The trace records it. Default: `true`.
      public var retriesOnStaleConnection = true
      /// The trusted authorities, pins and the client's identity. Default: the system's authorities, no client identity.
      public var trust = Trust()
      /// The limits on a response.
      public var limits = Limits()
      /// Whether gzip and deflate are offered to servers and decoded, within ``Limits``. Messages with their own
      /// `Accept-Encoding` are left alone. Default: `true`.
      public var undoesCodings = true
      /// The proxy. Default: none.
      public var proxy = ProxyUse.none
      /// The `User-Agent` of messages without one. Default: `apus`.
      public var userAgent = "apus"

      /// Creates the default options.
      public init() {}
    }

    /// The limits on a response, apart from the length of content that a call accepts (`contentLimit`).
    ///
    /// A response that exceeds a limit fails with the code `malformedResponse` or, if its content is too long,
    /// `contentTooLarge`. The error's detail tells which limit.
    public struct Limits: Sendable, Hashable {
      /// The most bytes of status lines and field lines, interim responses and trailers included. Default: 256 KiB.
      public var fieldBytes = 256 << 10
      /// The most fields (headers), those of interim responses and trailers included; at most 60,000. Default: 1,000.
      public var fields = 1000
      /// The most interim responses before the final one (RFC 9110 §15.2). Default: 64.
      public var interimResponses = 64
      /// The most content codings to decode, over all `Content-Encoding` fields. Default: 5.
      public var codings = 5
      /// The most bytes that content may decode to. Default: 1 GiB.
      public var decodedBytes: Int64 = 1 << 30
      /// The most that content may grow when it is decoded, as a multiple of what arrived, beyond ``ratioAllowance``.
      /// Default: 200.
      public var decodedRatio: Int64 = 200
      /// The bytes that content may decode to at any ratio, because short responses can be very repetitive. Default: 8
      /// MiB.
      public var ratioAllowance: Int64 = 8 << 20

      /// Creates the default limits.
      public init() {}
    }
  }

  // MARK: - Validation

  extension NIOTransport.Options {
    /// Checks the options for impossible values, such as a limit of no connections.
    ///
    /// A transport with such options does not trap: each of its calls throws this error, which becomes `invalidRequest`.
    ///
    /// - Throws: ``TransportError`` of the kind `unsupported`, which names the option.
    public func check() throws(TransportError) {
      for (isSensible, rule) in rules where !isSensible {
        throw TransportError(.unsupported, requestState: .notSent, detail: "the transport's option \(rule)")
      }
    }

    private var rules: [(Bool, String)] {
      pool + times + responses + [
        (eventLoops.isSensible, "eventLoops: at least one"),
        (HTTPField.isValidValue(userAgent), "userAgent: no control characters"),
        (proxy.fault == nil, "proxy: \(proxy.fault ?? "")"),
      ]
    }

    private var pool: [(Bool, String)] {
      [
        (connectionsPerOrigin >= 1, "connectionsPerOrigin: at least 1"),
        (connections >= 1, "connections: at least 1"),
        (waiting ?? 0 >= 0, "waiting: not negative"),
      ]
    }

    private var times: [(Bool, String)] {
      [
        (idleTimeout >= .zero, "idleTimeout: not negative"),
        (maximumAge ?? .zero >= .zero, "maximumAge: not negative"),
        (connectTimeout.isPositive, "connectTimeout: positive"),
        (firstByteTimeout.isPositive, "firstByteTimeout: positive"),
        (stallTimeout.isPositive, "stallTimeout: positive"),
      ]
    }

    private var responses: [(Bool, String)] {
      [
        (limits.fieldBytes >= 1, "limits.fieldBytes: at least 1"),
        // HTTPFields traps at 65,535.
        ((1...60_000).contains(limits.fields), "limits.fields: from 1 to 60,000"),
        (limits.interimResponses >= 0, "limits.interimResponses: not negative"),
        (limits.codings >= 0, "limits.codings: not negative"),
        (limits.decodedBytes >= 0, "limits.decodedBytes: not negative"),
        (limits.decodedRatio >= 1, "limits.decodedRatio: at least 1"),
        (limits.ratioAllowance >= 0, "limits.ratioAllowance: not negative"),
      ]
    }
  }

  extension Duration? {
    /// Whether the time limit is positive or absent.
    fileprivate var isPositive: Bool { map { $0 > .zero } ?? true }
  }

  extension NIOTransport.EventLoops {
    fileprivate var isSensible: Bool {
      if case .own(let count) = self { return count >= 1 }
      return true
    }
  }

  extension NIOTransport.ProxyUse {
    fileprivate var fault: String? {
      guard case .proxy(let proxy) = self else { return nil }
      return proxy.fault
    }
  }

  // MARK: - Settings of the parts

  extension PoolLimits {
    init(_ options: NIOTransport.Options) {
      self.init(
        connectionsPerOrigin: options.connectionsPerOrigin, connections: options.connections,
        waiting: options.waiting ?? .max, idleTimeout: options.idleTimeout, maximumAge: options.maximumAge)
    }
  }

  extension FramingLimits {
    init(_ limits: NIOTransport.Limits) {
      self.init(fieldBytes: limits.fieldBytes, fieldCount: limits.fields, interimCount: limits.interimResponses)
    }
  }

  extension CodingLimits {
    init(_ limits: NIOTransport.Limits) {
      self.init(
        length: limits.decodedBytes, ratio: limits.decodedRatio, ratioAllowance: limits.ratioAllowance,
        chainLength: limits.codings)
    }
  }
#endif
