#if NIO
  import NIOCore

  /// The time limits of a transport in the event loops' terms.
  struct Timeouts: Sendable {
    let connect: TimeAmount?
    let firstByte: TimeAmount?
    let stall: TimeAmount?

    init(_ options: NIOTransport.Options) {
      connect = options.connectTimeout.map { TimeAmount($0) }
      firstByte = options.firstByteTimeout.map { TimeAmount($0) }
      stall = options.stallTimeout.map { TimeAmount($0) }
    }
  }
#endif
