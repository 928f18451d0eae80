#if NIO
  public import NIOPosix

  extension NIOTransport {
    /// How a transport connects, and how long it waits. Whatever is not listed is fixed, because another layer does it.
    public struct Options: Sendable {
      /// The threads that connections are served on. Default: those shared by the whole process.
      public var eventLoops = EventLoops.shared
      /// The most connections to one origin; messages beyond wait for one. Default: 16.
      public var connectionsPerOrigin = 16
      /// The most connections to all origins together; where they are all in use, messages wait. Default: 256.
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
      /// seconds. A client of `Apus` limits most attempts to 10 seconds by default, which is nearer.
      public var firstByteTimeout: Duration? = .seconds(60)
      /// How long no byte may move while content is on its way, in either direction. Time in which nobody wants to
      /// read, or in which content to send is still being made, does not count. `nil`: for ever. Default: 20 seconds.
      public var stallTimeout: Duration? = .seconds(20)
      /// Whether a request whose reused connection turns out to be closed, or to hold bytes that nobody asked for, may
      /// go out once more, on a new connection: when no byte of the answer had come, and nothing was written or the
      /// request is idempotent and replayable. The trace says so. Default: yes.
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
