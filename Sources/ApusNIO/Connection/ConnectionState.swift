import ApusCore

/// A connection and its current exchange. A pure state machine; ``ConnectionHandler`` performs the returned actions on
/// the connection's loop.
///
/// A connection carries one exchange after the other. Events of an earlier exchange change nothing.
struct ConnectionState<ExchangeID: Equatable> {
  /// The result of offering an exchange to the connection.
  enum Beginning: Equatable {
    /// Put the exchange on the connection.
    case enter
    /// Return the exchange to the owner: nothing was written.
    case giveBack
    /// Return the exchange to the owner and close the connection, which has ended or received unsolicited bytes.
    case giveBackAndClose
  }

  /// The action for bytes that arrive.
  enum Arrival: Equatable {
    case decode
    /// Close the connection: the bytes are unsolicited and must not be read as a response.
    case close
    case ignore
  }

  /// The action after the socket has closed.
  enum Closing: Equatable {
    /// Do nothing: no exchange was on the connection.
    case end
    /// Wait until the reader has consumed the bytes that have arrived.
    case wait
    /// Retry the exchange on a new connection.
    case resend
    /// Decode the bytes that arrived before the close.
    case decodeRest
  }

  /// The action after the whole response has arrived.
  enum Completion: Equatable {
    /// End the exchange; the connection may carry another.
    case reuse
    /// End the exchange and close the connection.
    case close
    /// Continue to send the request.
    case sendOn
    /// Fail the exchange: its content was not sent, though the server responded with success.
    case fail
  }

  private(set) var exchange: ExchangeID?
  /// The progress of the exchange. As new while there is no exchange.
  var progress = ExchangeProgress()
  /// Whether the connection ended before the reader had consumed everything that arrived.
  private(set) var isCutShort = false
  /// Whether the connection is closed or about to be closed, so that input is ignored.
  private(set) var isOver = false
  /// Whether the connection has completed an exchange.
  private(set) var hasServed = false
  /// Whether the connection may carry another exchange once the request is complete, after ``Completion/sendOn``.
  private var staysUsable = false
  /// Whether the head arrived before all content was written. Some servers respond a second time once they have read
  /// the content, and that response must not be read as the response to the next request.
  private var mayRespondAgain = false

  /// The progress that must happen within its timeout now, see ``ExchangeProgress/awaited``.
  var awaited: ExchangeProgress.Awaited? { exchange == nil ? nil : progress.awaited }

  // MARK: The request

  /// Offers an exchange to the connection.
  ///
  /// - Parameters:
  ///   - isOpen: whether the socket is open.
  ///   - hasUnread: returns whether there is unread input; called only on a reused connection.
  mutating func offered(isOpen: Bool, hasUnread: () -> Bool) -> Beginning {
    guard exchange == nil, !isOver, isOpen else { return .giveBack }
    guard hasServed, hasUnread() else { return .enter }
    isOver = true
    return .giveBackAndClose
  }

  /// Puts an exchange on the connection.
  mutating func entered(_ exchange: ExchangeID) {
    self.exchange = exchange
  }

  /// Removes an exchange whose request cannot be written. The connection stays usable.
  mutating func requestRefused() {
    clear()
  }

  // MARK: The response

  mutating func bytesArrived() -> Arrival {
    guard !isOver else { return .ignore }
    guard exchange != nil else {
      isOver = true
      return .close
    }
    guard progress.response != .completeEarly else {
      staysUsable = false
      return .ignore
    }
    progress.bytesArrived()
    return .decode
  }

  /// Records the head of the final response, see ``ExchangeProgress/headArrived(isSuccess:isContentHeld:)``.
  ///
  /// - Parameter isContentWritten: whether all content of a known length was written. Evaluated only if the request is
  ///   not complete.
  mutating func headArrived(
    isSuccess: @autoclosure () -> Bool, isContentHeld: @autoclosure () -> Bool = false,
    isContentWritten: @autoclosure () -> Bool = false
  ) -> Bool {
    guard progress.headArrived(isSuccess: isSuccess(), isContentHeld: isContentHeld()) else { return false }
    mayRespondAgain = !isContentWritten()
    return true
  }

  /// Pauses reading because the reader has not consumed the bytes that were read. Returns `false` if reading was
  /// paused already.
  mutating func pause() -> Bool { exchange != nil && progress.pause() }

  /// Completes the response. After an early success, the request continues if the connection is open (RFC 9110 §7.5).
  ///
  /// - Parameters:
  ///   - canReuse: whether the response permits reuse.
  ///   - isExact: whether no bytes follow the response.
  ///   - isOpen: whether the socket is open.
  mutating func responseCompleted(canReuse: Bool, isExact: Bool, isOpen: Bool) -> Completion {
    let isReusable = canReuse && isExact && isOpen && !mayRespondAgain
    guard progress.isIncomplete else { return ended(isReusable: isReusable && progress.request == .complete) }
    guard progress.isSending, isOpen else { return .fail }
    progress.responseCompleted()
    staysUsable = isReusable
    return .sendOn
  }

  /// Ends an exchange whose request was still being sent after its response (``Completion/sendOn``), once the request
  /// is complete.
  mutating func exchangeCompleted() -> Completion { ended(isReusable: staysUsable) }

  private mutating func ended(isReusable: Bool) -> Completion {
    clear()
    isOver = !isReusable
    hasServed = true
    return isReusable ? .reuse : .close
  }

  // MARK: Endings

  /// Closes the connection if it is idle. Returns `false` if it is in use, or was closed before.
  mutating func closeIfIdle() -> Bool {
    guard exchange == nil, !isOver else { return false }
    isOver = true
    return true
  }

  /// Ends the exchange before its response is complete, which makes the connection unusable.
  mutating func broken() {
    clear()
    isOver = true
  }

  /// Ends the connection after either side has closed the socket.
  ///
  /// - Parameter isRepeatable: whether the request may be sent twice without harm.
  mutating func closed(isRepeatable: Bool) -> Closing {
    guard exchange != nil else {
      isOver = true
      return .end
    }
    if progress.isPaused {
      isCutShort = true
      return .wait
    }
    return hasServed && progress.response == .nothing && isRepeatable ? .resend : .decodeRest
  }

  private mutating func clear() {
    exchange = nil
    progress = ExchangeProgress()
    (isCutShort, staysUsable, mayRespondAgain) = (false, false, false)
  }
}
