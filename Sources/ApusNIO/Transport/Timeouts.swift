#if NIO
  import ApusCore
  import NIOCore

  /// The time limits of one exchange in the event loops' terms.
  struct Timeouts: Sendable {
    /// Each wait for a connection, dialing included; the transport has no such limit of its own.
    private(set) var connection: TimeAmount?
    private(set) var firstByte: TimeAmount?
    private(set) var stall: TimeAmount?

    init(_ options: NIOTransport.Options) {
      firstByte = options.firstByteTimeout.map { TimeAmount($0) }
      stall = options.stallTimeout.map { TimeAmount($0) }
    }

    /// With what a call says of its own.
    ///
    /// - Parameters:
    ///   - own: its limits for the parts of an exchange.
    ///   - call: its limit for the whole call; `nil`: it sets none. If it is longer than the transport's limit for the
    ///     head it takes its place: such a call expects a slow response, as a long poll does.
    func with(_ own: ExchangeTimeouts, of call: Duration?) -> Timeouts {
      var timeouts = self
      if let limit = own.connection { timeouts.connection = TimeAmount(limit) }
      if let limit = own.firstByte {
        timeouts.firstByte = TimeAmount(limit)
      } else if let limit = firstByte, let call {
        timeouts.firstByte = max(limit, TimeAmount(call))
      }
      if let limit = own.stall { timeouts.stall = TimeAmount(limit) }
      return timeouts
    }
  }
#endif
