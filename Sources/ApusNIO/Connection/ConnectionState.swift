import ApusCore

/// A connection and its current exchange. A pure state machine; ``ConnectionHandler`` performs the returned actions on
/// the connection's loop.
///
/// A connection carries one exchange after the other. Events of an earlier exchange change nothing.
struct ConnectionState<ExchangeID: Equatable> {
  enum Request {
    /// No byte was written.
    case unsent
    /// Some bytes were written to the socket.
    case begun
    case complete
    /// Some bytes were written, and no more follow: the server has responded with an error, or without requesting the
    /// withheld content.
    case stopped
  }

  enum Response {
    case nothing
    /// Bytes have arrived, but no final head.
    case begun
    /// The final head has arrived.
    case head
    /// The whole response has arrived before the whole request was sent.
    case completeEarly
  }

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

  /// The progress that must happen within a timeout.
  enum Awaited: Equatable {
    /// Bytes of the request must leave.
    case progress
    /// The server must send the head of its response, or content of it.
    case head, content
  }

  private(set) var exchange: ExchangeID?
  private(set) var request = Request.unsent
  private(set) var response = Response.nothing
  /// Whether reading is paused because the reader has not consumed the bytes that were read.
  private(set) var isPaused = false
  /// Whether the connection ended before the reader had consumed everything that arrived.
  private(set) var isCutShort = false
  /// Whether the connection is closed or about to be closed, so that input is ignored.
  private(set) var isOver = false
  /// Whether the connection has completed an exchange.
  private(set) var hasServed = false
  /// Whether the head of a successful response (2xx) arrived before the whole request was sent.
  private(set) var isEarlySuccess = false
  /// Whether the connection may carry another exchange once the request is complete, after ``Completion/sendOn``.
  private var staysUsable = false
  /// Whether the head arrived before all content was written. Some servers respond a second time once they have read
  /// the content, and that response must not be read as the response to the next request.
  private var mayRespondAgain = false
  /// The number of request bytes that had not left at the last ``measured(unsent:)``, plus the bytes written since.
  private(set) var unsent = 0

  /// The request state of the current exchange.
  var requestState: RequestState {
    switch (response, request) {
    case (.head, _), (.completeEarly, _): .responded
    case (_, .unsent): .notSent
    case (_, .begun), (_, .complete), (_, .stopped): .maybeSent
    }
  }

  /// Whether the final head has arrived.
  var hasHead: Bool { response == .head || response == .completeEarly }

  /// Whether content of the request may still be written.
  var isSending: Bool { request == .begun }

  /// Whether the server responded with success although part of the request is not sent.
  var isIncomplete: Bool { isEarlySuccess && request != .complete }

  /// The progress that must happen within its timeout now; `nil` while content is still being produced or the reader is
  /// slow.
  ///
  /// While request bytes are unsent, only their progress is awaited, because a server need not respond before it has
  /// the whole request. This rule applies even after the head of the response has arrived. A slow reader of the
  /// response is the exception, because the server may be waiting for the reader. After the whole response, content
  /// must be produced in time, too, because its producer may be waiting for the end of the exchange.
  var awaited: Awaited? {
    guard exchange != nil, !isPaused else { return nil }
    if request == .stopped { return .content }
    if unsent > 0 || response == .completeEarly { return .progress }
    guard request == .complete else { return nil }
    return response == .head ? .content : .head
  }

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

  /// Begins to write the request: from now on the server may have received part of it.
  mutating func requestBegun() {
    request = .begun
  }

  /// Adds bytes written to the socket, which may buffer them.
  mutating func wrote(_ count: Int) {
    unsent += count
  }

  /// Updates the number of the request's bytes that have not left.
  ///
  /// - Returns: whether any bytes have left since the last call.
  mutating func measured(unsent: Int) -> Bool {
    defer { self.unsent = unsent }
    return unsent < self.unsent
  }

  /// Completes the request: the socket has accepted all bytes, of which some may be ``unsent``. If the response is
  /// complete, the exchange ends with ``exchangeCompleted()``.
  mutating func requestCompleted() {
    request = .complete
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
    guard response != .completeEarly else {
      staysUsable = false
      return .ignore
    }
    if response == .nothing { response = .begun }
    return .decode
  }

  /// Records the head of the final response. Returns whether the head arrived before the request was complete. If so,
  /// more content is sent only while ``isSending`` is `true`.
  ///
  /// - Parameters:
  ///   - isSuccess: whether the status is 2xx. Evaluated only if the request is not complete.
  ///   - isContentHeld: whether the content is withheld until the server sends 100 (Continue). Evaluated only if the
  ///     request is not complete.
  ///   - isContentWritten: whether all content of a known length was written. Evaluated only if the request is not
  ///     complete.
  mutating func headArrived(
    isSuccess: @autoclosure () -> Bool, isContentHeld: @autoclosure () -> Bool = false,
    isContentWritten: @autoclosure () -> Bool = false
  ) -> Bool {
    response = .head
    guard request == .begun else { return false }
    isEarlySuccess = isSuccess()
    mayRespondAgain = !isContentWritten()
    // A server that responds with success before 100 (Continue) does not need the content either.
    if !isEarlySuccess || isContentHeld() { request = .stopped }
    return true
  }

  /// Pauses reading because the reader has not consumed the bytes that were read. Returns `false` if reading was
  /// paused already.
  mutating func pause() -> Bool {
    guard exchange != nil, !isPaused else { return false }
    isPaused = true
    return true
  }

  /// Resumes reading. Returns `false` if reading was not paused.
  mutating func resume() -> Bool {
    guard isPaused else { return false }
    isPaused = false
    return true
  }

  /// Completes the response. After an early success, the request continues if the connection is open (RFC 9110 §7.5).
  ///
  /// - Parameters:
  ///   - canReuse: whether the response permits reuse.
  ///   - isExact: whether no bytes follow the response.
  ///   - isOpen: whether the socket is open.
  mutating func responseCompleted(canReuse: Bool, isExact: Bool, isOpen: Bool) -> Completion {
    let isReusable = canReuse && isExact && isOpen && !mayRespondAgain
    guard isIncomplete else { return ended(isReusable: isReusable && request == .complete) }
    guard isSending, isOpen else { return .fail }
    (response, staysUsable) = (.completeEarly, isReusable)
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
    if isPaused {
      isCutShort = true
      return .wait
    }
    return hasServed && response == .nothing && isRepeatable ? .resend : .decodeRest
  }

  private mutating func clear() {
    exchange = nil
    (request, response) = (.unsent, .nothing)
    (isPaused, isCutShort) = (false, false)
    (isEarlySuccess, staysUsable, mayRespondAgain) = (false, false, false)
    unsent = 0
  }
}
