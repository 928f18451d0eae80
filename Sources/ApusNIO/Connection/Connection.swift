import ApusCore
import NIOCore
import Synchronization

/// A connection as seen from any thread. Its methods run on the channel's event loop, in its ``ExchangeCarrier``.
final class Connection: Sendable {
  let origin: Origin
  let channel: any Channel
  let timings: ConnectTimings
  let openedAt = NIODeadline.now()
  /// Whether several exchanges can use the connection at the same time.
  let isShared: Bool
  private let carrier: NIOLoopBound<any ExchangeCarrier>
  private let served = Atomic(false)

  /// Creates a connection on a channel. Call it on the channel's loop.
  init(to origin: Origin, on connected: ConnectedChannel, carrier: some ExchangeCarrier & ChannelHandler) throws {
    self.origin = origin
    isShared = connected.version == .http2
    channel = connected.channel
    timings = connected.timings
    self.carrier = NIOLoopBound(carrier, eventLoop: channel.eventLoop)
    try channel.pipeline.syncOperations.addHandler(carrier)
    carrier.connection = self
  }

  /// Whether the connection has completed an exchange. A copy of ``ConnectionState/hasServed`` for other threads.
  var hasServed: Bool { served.load(ordering: .relaxed) }

  func markServed() { served.store(true, ordering: .relaxed) }

  // MARK: Exchanges

  /// Starts an exchange on this connection. Does not change threads if the caller is on the loop.
  func carry(_ exchange: Exchange) {
    // Not through `onLoop`, which would allocate a closure for every exchange.
    if channel.eventLoop.inEventLoop { return carrier.value.beginExchange(exchange) }
    channel.eventLoop.execute { self.carrier.value.beginExchange(exchange) }
  }

  /// Closes the connection if it still carries the exchange. The caller no longer waits for the response.
  func abandon(_ exchange: Exchange) {
    onLoop { $0.abandon(exchange) }
  }

  /// Ends the exchange, unless the head of its response has arrived.
  func endAttempt(of exchange: Exchange) {
    onLoop { $0.endAttempt(of: exchange) }
  }

  /// Closes the connection if it is idle.
  func closeIfIdle() {
    onLoop { $0.closeIfIdle() }
  }

  /// Closes the connection; an exchange on it fails with the error.
  func terminate(_ error: TransportError) {
    onLoop { $0.terminate(error) }
  }

  /// Continues to read the response, because its reader has room again.
  func resumeReading(_ exchange: Exchange) {
    // Always asynchronous, because the caller may be inside a read.
    channel.eventLoop.execute { self.carrier.value.resumeReading(exchange) }
  }

  // MARK: Request content

  /// Writes a piece of content, and returns when there is room for the next.
  ///
  /// - Returns: `false` if the exchange has ended and no more content is needed.
  func writePiece(_ piece: ContentPiece, of exchange: Exchange) async -> Bool {
    // Does not use the event loop, which may have shut down with the transport.
    guard exchange.place != .over else { return false }
    return await withCheckedContinuation { waiter in
      let waiter = RoomWaiter(waiter)
      onLoop { $0.writePiece(piece, of: exchange, waiter) }
    }
  }

  /// Ends the content.
  func finishContent(of exchange: Exchange) {
    onLoop { $0.finishContent(of: exchange) }
  }

  /// Ends the exchange because its content could not be produced.
  func failContent(of exchange: Exchange, _ error: any Error) {
    onLoop { $0.failContent(of: exchange, error) }
  }

  private func onLoop(_ body: @escaping @Sendable (any ExchangeCarrier) -> Void) {
    if channel.eventLoop.inEventLoop { return body(carrier.value) }
    channel.eventLoop.execute { body(self.carrier.value) }
  }
}

/// The channel handler of a connection, which carries exchanges in the connection's protocol. Everything happens on its
/// event loop.
protocol ExchangeCarrier: AnyObject {
  /// The connection that other types use.
  var connection: Connection? { get set }

  /// Begins an exchange: writes the head, and starts to send the content.
  func beginExchange(_ exchange: Exchange)
  /// Ends the exchange immediately if the connection carries it. The caller no longer waits for the response.
  func abandon(_ exchange: Exchange)
  /// Ends the exchange, unless the head of its response has arrived.
  func endAttempt(of exchange: Exchange)
  /// Continues to read the response, because its reader has room again.
  func resumeReading(_ exchange: Exchange)
  /// Closes the connection if it is idle.
  func closeIfIdle()
  /// Closes the connection; all exchanges on it fail with the error.
  func terminate(_ error: TransportError)

  /// Writes a piece of content. Resumes the waiter when there is room for the next piece.
  func writePiece(_ piece: ContentPiece, of exchange: Exchange, _ waiter: RoomWaiter)
  /// Ends the content.
  func finishContent(of exchange: Exchange)
  /// Fails the exchange because its content could not be produced.
  func failContent(of exchange: Exchange, _ error: any Error)
}

/// The owner of connections and exchanges: the part of the transport that connections call.
protocol ConnectionOwner: AnyObject, Sendable {
  /// Returns a connection to the pool, free for another exchange.
  ///
  /// - Parameter isSuspended: whether the connection takes no exchanges for now, see ``connectionSuspended(_:)``.
  func connectionBecameFree(_ connection: Connection, isSuspended: Bool)
  /// Records that a connection takes no exchanges for an indefinite time: it streams content, or is to be closed after
  /// its exchanges.
  func connectionSuspended(_ connection: Connection)
  /// Records that a suspended connection takes exchanges again.
  func connectionResumed(_ connection: Connection)
  /// Records the number of exchanges that a connection carries at most at the same time.
  func capacityChanged(of connection: Connection, to capacity: Int)
  /// Makes no connection to an origin for a short time, because the server requests it (ENHANCE_YOUR_CALM).
  func calm(_ origin: Origin)
  /// Uses only HTTP/1.1 for an origin for some time, because the server requires it (HTTP_1_1_REQUIRED).
  func restrictToHTTP1(_ origin: Origin)
  /// Whether HTTP/1.1 may be used.
  var offersHTTP1: Bool { get }
  /// Removes a closed connection from the pool.
  func connectionClosed(_ connection: Connection)

  /// Sends an exchange again on another connection. Returns `false` if the exchange was sent again for this reason
  /// before, may not be sent again, or has ended.
  func resend(_ exchange: Exchange, _ reason: Exchange.State.Return) -> Bool
  /// Resumes a caller, whose call may continue on the given event loop.
  func resume(on loop: any EventLoop, _ resume: () -> Void)
  /// Returns an executor on an event loop for work during an exchange; `nil` if the loop may end before the work.
  func executor(on loop: any EventLoop) -> (any TaskExecutor)?
  /// Removes an exchange from the queue of exchanges that wait for a connection.
  func withdraw(_ exchange: Exchange)
}

extension ConnectionOwner {
  /// Takes an exchange back of which nothing was written, because its connection takes no more exchanges.
  func take(back exchange: Exchange, _ reason: Exchange.State.Return) {
    if resend(exchange, reason) { return }
    exchange.fail(
      TransportError(
        .connectionLost, requestState: .notSent, detail: "the connection was closed before it could be reused"))
  }
}

extension Connection: Hashable {
  static func == (lhs: Connection, rhs: Connection) -> Bool { lhs === rhs }

  func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
