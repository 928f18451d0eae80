#if NIO
  import ApusCore
  import NIOCore
  import Synchronization

  /// A connection as everyone but its event loop sees it: what is asked of it happens on its loop.
  final class Connection: Sendable {
    let origin: Origin
    let channel: any Channel
    let timings: DialTimings
    private let handler: NIOLoopBound<ConnectionHandler>
    private let served = Atomic(false)

    /// Whether an exchange has been completed on it: what its state knows, for those who are not on its loop.
    var hasServed: Bool { served.load(ordering: .relaxed) }

    func markServed() { served.store(true, ordering: .relaxed) }

    /// On the channel's loop.
    init(to origin: Origin, channel: any Channel, handler: ConnectionHandler, timings: DialTimings) {
      self.origin = origin
      self.channel = channel
      self.timings = timings
      self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
    }

    /// Begins an exchange; without a hop where the caller is on the loop.
    func start(_ exchange: Exchange) {
      // Not through `perform`: every exchange comes by here.
      if channel.eventLoop.inEventLoop { return handler.value.start(exchange) }
      channel.eventLoop.execute { self.handler.value.start(exchange) }
    }

    /// Closes the connection if the exchange is still on it: nobody waits for its answer.
    func abandon(_ exchange: Exchange) {
      perform { $0.abandon(exchange) }
    }

    /// The time of its attempt is up: ends the exchange wherever it is, unless the head of its answer is there.
    func endAttempt(of exchange: Exchange) {
      perform { $0.endAttempt(of: exchange) }
    }

    /// Closes a connection that nobody uses.
    func close() {
      perform { $0.closeIdle() }
    }

    /// Closes the connection; an exchange on it fails.
    func end(_ error: TransportError) {
      perform { $0.end(error) }
    }

    // MARK: Content to send

    /// Sends a piece of content, and returns when there is room for the next.
    ///
    /// - Returns: `false` when the exchange is over and nobody wants more.
    func send(_ piece: ContentPiece, of exchange: Exchange) async -> Bool {
      await withCheckedContinuation { waiter in
        perform { $0.send(piece, of: exchange, waiter) }
      }
    }

    /// The content has been sent completely.
    func finishContent(of exchange: Exchange) {
      perform { $0.finishContent(of: exchange) }
    }

    /// The content to send could not be made.
    func failContent(of exchange: Exchange, _ error: any Error) {
      perform { $0.failContent(of: exchange, error) }
    }

    /// There is room for more of the answer.
    func resumeReading(_ exchange: Exchange) {
      // Never at once: whoever asks may be inside of a read.
      channel.eventLoop.execute { self.handler.value.resumeReading(exchange) }
    }

    private func perform(_ body: @escaping @Sendable (ConnectionHandler) -> Void) {
      if channel.eventLoop.inEventLoop { return body(handler.value) }
      channel.eventLoop.execute { body(self.handler.value) }
    }
  }

  extension Connection: Hashable {
    static func == (lhs: Connection, rhs: Connection) -> Bool { lhs === rhs }

    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
  }
#endif
