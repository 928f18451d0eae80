import ApusCore
import NIOCore

/// The path of an exchange: its start, its wait for a connection, and its end.
extension TransportCore: ConnectionOwner {
  /// Creates an exchange for a message.
  ///
  /// - Throws: `TransportError` if the transport's options are invalid or the message cannot be sent.
  func makeExchange(for request: RequestMessage, context: ExchangeContext) throws(TransportError) -> Exchange {
    if let fault { throw fault }
    let request = try PreparedRequest(request, to: context.origin(of: request), settings: requestSettings)
    return Exchange(request, context: context, timeouts: timeouts, owner: self)
  }

  /// Begins an exchange. The waiter is resumed exactly once.
  func begin(_ exchange: Exchange, _ waiter: Exchange.Waiter) {
    guard exchange.begin(waiter) else { return waiter.resume(throwing: CancellationError()) }
    findConnection(for: exchange, again: false)
  }

  func resend(_ exchange: Exchange, wasWritten: Bool) -> Bool {
    guard options.retriesOnStaleConnection, exchange.requeue(wasWritten: wasWritten) else { return false }
    exchange.context.record(.resent)
    findConnection(for: exchange, again: true)
    return true
  }

  func resume(on loop: any EventLoop, _ resume: () -> Void) {
    continuations.resume(on: loop, resume)
  }

  func executor(on loop: any EventLoop) -> (any TaskExecutor)? {
    loops.neverEnd ? EventLoopExecutor(loop) : nil
  }

  private func findConnection(for exchange: Exchange, again: Bool) {
    acquireConnection(for: exchange, again: again)
    guard let limit = exchange.timeouts.connection else { return }
    let alarm = loops.next()?.scheduleTask(in: limit) { self.waitedTooLong(exchange) }
    if !exchange.keep(alarm) { alarm?.cancel() }
  }

  // MARK: Ending

  private func waitedTooLong(_ exchange: Exchange) {
    let limit = exchange.timeouts.connection.map { "\(Duration($0))" } ?? ""
    let error = TransportError(
      .timeout, in: .connecting, requestState: .notSent,
      detail: "no connection to \(exchange.request.origin.authority) within \(limit), the limit of connection")
    fail(exchange, error, onlyWhileWaiting: true)
  }

  func attemptDeadlinePassed(for exchange: Exchange) {
    fail(exchange, .attemptTimedOut(in: .connecting, requestState: .notSent), onlyWhileWaiting: true)
    switch exchange.place {
    // The exchange may just have entered a connection, which decides by the progress of the response.
    case .on(let connection): connection.endAttempt(of: exchange)
    // The exchange has left its connection meanwhile, and waits for another.
    case .queued: attemptDeadlinePassed(for: exchange)
    case .nowhere, .over: break
    }
  }

  func cancel(_ exchange: Exchange) {
    end(exchange) { _ in CancellationError() }
  }

  func fail(_ exchange: Exchange, _ error: TransportError) {
    fail(exchange, error, onlyWhileWaiting: false)
  }

  private func fail(_ exchange: Exchange, _ error: TransportError, onlyWhileWaiting: Bool) {
    end(exchange, onlyWhileWaiting: onlyWhileWaiting) { ending in
      var error = error
      error.requestState = ending.requestState(error.requestState)
      guard error.code == .timeout, ending.place == .queued, exchange.isDelayedByLimits else { return error }
      error.detail += ": all connections that the limits permit are in use"
      return error.attributed(to: .trafficControl)
    }
  }

  /// Ends an exchange. The exchange leaves its connection or the queue before the caller is resumed, because the
  /// caller may need the connection.
  private func end(
    _ exchange: Exchange, onlyWhileWaiting: Bool = false, throwing error: (Exchange.State.Ending) -> any Error
  ) {
    guard let (ending, waiter) = exchange.end(onlyWhileWaiting: onlyWhileWaiting) else { return }
    // Records in the trace that the call waited for a connection, not for the server.
    if ending.place == .queued, exchange.isDelayedByLimits, let waitingTime = exchange.waitingTime {
      exchange.context.record(.phase(.queued, waitingTime))
    }
    switch ending.place {
    case .nowhere, .over: break
    case .queued: withdraw(exchange)
    case .on(let connection): connection.abandon(exchange)
    }
    waiter?.resume(throwing: error(ending))
  }
}
