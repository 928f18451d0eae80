#if NIO
  public import NIOPosix

  extension NIOTransport {
    /// How a transport connects, and how long it waits. Whatever is not listed is fixed, because another layer does it.
    public struct Options: Sendable {
      /// The threads that connections are served on. Default: those shared by the whole process.
      public var eventLoops = EventLoops.shared
      /// The most connections to one origin; messages beyond wait for one. A connection whose answer is being read as a
      /// stream is not counted, so that event streams and long downloads do not keep other messages waiting: the pool
      /// grows with them, up to ``connections``. Default: 16.
      public var connectionsPerOrigin = 16
      /// The most connections to all origins together, streams included; where they are all in use, messages wait.
      /// Default: 256.
      public var connections = 256
      /// The most messages that wait, to all origins together, while all connections that there may be are in use; one
      /// more fails with the code `declined`, and nothing was sent. `nil`: any number. Default: `nil`.
      public var waiting: Int?
      /// How long a connection that nobody uses is kept. Default: 60 seconds.
      public var idleTimeout = Duration.seconds(60)
      /// How long a connection is used at most; an exchange that runs then may end. `nil`: for ever. Default: `nil`.
      public var maximumAge: Duration?
      /// How long finding the address, connecting and TLS may take together. `nil`: for ever. Default: 10 seconds.
      ///
      /// A call that passes this limit or one of the next two fails with the code `timeout`, and its phase tells which;
      /// `ExchangeTimeouts` are one call's own.
      public var connectTimeout: Duration? = .seconds(10)
      /// How long the head of the answer may take from the moment the request has left. `nil`: for ever. Default: 60
      /// seconds. A call with a longer timeout of its own (`.timeout(_:)`) may wait that long.
      public var firstByteTimeout: Duration? = .seconds(60)
      /// How long no byte may move in either direction while content is on its way. Time in which the caller does
      /// not read the response, or is still producing content, does not count. `nil`: for ever. Default: 20 seconds.
      ///
      /// A byte of the request has moved when the server's system has confirmed it, not when this side's has taken it
      /// (where the platform tells: Linux and Apple's). A system that reads slowly confirms in steps of one segment or a
      /// sixteenth of its receive buffer, whichever is more: usually about 8 KiB, over loopback up to 64 KiB. So the
      /// slowest upload that is no stall is one such step in this time, about 0.4 KiB/s with the default.
      public var stallTimeout: Duration? = .seconds(20)
      /// Whether a request whose reused connection turns out to be closed, or to hold bytes that nobody asked for, may
      /// go out once more, on a new connection: when no byte of the answer had come, and nothing was written or the
      /// request is replayable and may be sent twice: by its method, as its endpoint declares, or since it carries an
      /// idempotency key. The trace says so. Default: yes.
      public var retriesOnStaleConnection = true
      /// Whom to trust, and how to identify oneself. Default: the system decides, and the client stays anonymous.
      public var trust = Trust()
      /// What an answer may cost before it is refused.
      public var limits = Limits()
      /// Whether gzip and deflate are offered to servers and undone, within limits on how much and how many times the
      /// content grows. Not for messages that say themselves which codings they accept. Default: yes.
      public var undoesCodings = true
      /// The proxy that messages go through. Default: none.
      public var proxy = ProxyUse.none
      /// The `User-Agent` of messages that have none. Default: `apus`.
      public var userAgent = "apus"

      /// The defaults.
      public init() {}
    }

    /// Threads that wait for the network.
    public enum EventLoops: Sendable {
      /// The process's own, one for each core, which begin with the first that needs them; other users of SwiftNIO share
      /// them.
      case shared
      /// So many of the transport's own, at least one; they end with ``NIOTransport/shutDown(within:)``.
      case own(Int)
      /// These, which whoever made them ends, after the transport.
      case group(MultiThreadedEventLoopGroup)
    }
  }
#endif
