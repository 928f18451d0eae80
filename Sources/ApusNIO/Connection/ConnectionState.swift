#if NIO
import ApusCore

/// A connection and the exchange on it. A pure state machine; ``ConnectionHandler`` performs what it returns, on the
/// connection's loop.
///
/// A connection carries one exchange after the other. Events of an exchange that has left it change nothing.
struct ConnectionState<ExchangeID: Equatable> {
  enum Request {
    /// No byte was written.
    case unsent
    /// Some bytes were written to the socket.
    case begun
    case complete
  }

  enum Response {
    case nothing
    /// Bytes arrived, but no final head.
    case begun
    /// The final head arrived.
    case head
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
    /// Close the connection: the bytes are unsolicited and must not be taken for a response.
    case close
    case ignore
  }

  /// The action after the socket has closed.
  enum Closing: Equatable {
    /// Nothing: no exchange was on the connection.
    case end
    /// Wait until the reader has consumed the bytes that have arrived.
    case wait
    /// Retry the exchange on a new connection.
    case resend
    /// Decode the bytes that have arrived; no more come.
    case judge
  }

  /// The progress that must happen within a time limit.
  enum Awaited: Equatable {
    /// Bytes of the request must leave.
    case progress
    /// The server must send the head of its response, or content.
    case head, content
  }

  private(set) var exchange: ExchangeID?
  private(set) var request = Request.unsent
  private(set) var response = Response.nothing
  /// Whether reading is paused because the reader has not consumed the bytes that were read.
  private(set) var isPaused = false
  /// Whether the connection ended before the reader had consumed everything that arrived.
  private(set) var isCutShort = false
  /// Whether the connection is closed or about to be, so that input is ignored.
  private(set) var isOver = false
  /// Whether the connection has completed an exchange.
  private(set) var hasServed = false
  /// The bytes of the request that had not left at the last ``measured(unsent:)``, and those written since.
  private(set) var unsent = 0

  /// The request state of the current exchange.
  var requestState: RequestState {
    switch (response, request) {
    case (.head, _): .responded
    case (_, .unsent): .notSent
    case (_, .begun), (_, .complete): .maybeSent
    }
  }

  /// The progress that must happen within its time limit now; `nil` if none: content is still being produced, or the
  /// reader is slow.
  ///
  /// While request bytes are unsent, only their progress is awaited, because a server without the whole request
  /// need not respond. That holds even after the head of the response, unless the response's reader is slow: the
  /// server may be waiting for the reader.
  var awaited: Awaited? {
    guard exchange != nil, !isPaused else { return nil }
    if unsent > 0 { return .progress }
    guard request == .complete else { return nil }
    return response == .head ? .content : .head
  }

  // MARK: The request

  /// Offers an exchange to the connection.
  ///
  /// - Parameters:
  ///   - isOpen: whether the socket is open.
  ///   - hasUnread: looks for input that was not read; called only on a reused connection.
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

  /// Begins to write the request: from now on the server may have some of it.
  mutating func requestBegun() {
    request = .begun
  }

  /// Notes bytes written to the socket, which may keep them for a while.
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

  /// Completes the request: the socket has all of it, some of it perhaps ``unsent``.
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
    if response == .nothing { response = .begun }
    return .decode
  }

  mutating func headArrived() {
    response = .head
  }

  /// Pauses reading because the reader has not consumed the bytes that were read. Returns `false` if reading was
  /// paused already.
  mutating func paused() -> Bool {
    guard exchange != nil, !isPaused else { return false }
    isPaused = true
    return true
  }

  /// Resumes reading. Returns `false` if reading was not paused.
  mutating func resumed() -> Bool {
    guard isPaused else { return false }
    isPaused = false
    return true
  }

  /// Completes the response. Returns whether the connection may carry another exchange.
  ///
  /// - Parameters:
  ///   - canReuse: whether the response permits reuse.
  ///   - isExact: whether no bytes follow the response.
  ///   - isOpen: whether the socket is open.
  mutating func responseCompleted(canReuse: Bool, isExact: Bool, isOpen: Bool) -> Bool {
    // A request that is incomplete now stays incomplete.
    let isReusable = canReuse && isExact && isOpen && request == .complete
    clear()
    isOver = !isReusable
    hasServed = true
    return isReusable
  }

  // MARK: Endings

  /// Closes the connection if it is idle. Returns `false` if it is in use, or was closed before.
  mutating func closedUnused() -> Bool {
    guard exchange == nil, !isOver else { return false }
    isOver = true
    return true
  }

  /// Ends the exchange before its response is complete, which makes the connection useless.
  mutating func broken() {
    clear()
    isOver = true
  }

  /// Ends the connection, whichever side has closed the socket.
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
    return hasServed && response == .nothing && isRepeatable ? .resend : .judge
  }

  private mutating func clear() {
    exchange = nil
    (request, response) = (.unsent, .nothing)
    (isPaused, isCutShort) = (false, false)
    unsent = 0
  }
}
#endif
