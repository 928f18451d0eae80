#if NIO
  import ApusCore

  /// A connection and the exchange on it. A pure state machine; ``ConnectionHandler`` performs what it returns, on the
  /// connection's loop.
  ///
  /// A connection carries one exchange after the other. Events of an exchange that has left it change nothing.
  struct ConnectionState<ExchangeID: Equatable> {
    enum Request {
      /// Nothing of it was written.
      case unsent
      /// Some of it was written to the socket.
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
      /// Send it elsewhere: nothing was written.
      case giveBack
      /// Send it elsewhere and close the connection, which has ended or received unsolicited bytes.
      case giveBackAndClose
    }

    /// What to do with bytes.
    enum Arrival: Equatable {
      case decode
      /// Close the connection: the bytes are unsolicited and must not be taken for a response.
      case close
      case ignore
    }

    /// What to do when the socket has closed.
    enum Closing: Equatable {
      /// Nothing: no exchange was on the connection.
      case end
      /// Wait until the reader has taken what has arrived.
      case wait
      /// Send the exchange again on a new connection.
      case resend
      /// Decode what has arrived; nothing more comes.
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
    /// Whether reading is paused because the reader does not take what was read.
    private(set) var isPaused = false
    /// Whether the connection ended before the reader had taken everything that arrived.
    private(set) var isCutShort = false
    /// Whether the connection is closed or about to be, so that input is ignored.
    private(set) var isOver = false
    /// Whether it has completed an exchange.
    private(set) var hasServed = false
    /// The bytes of the request that had not left at the last ``measured(unsent:)``, and those written since.
    private(set) var unsent = 0

    /// How far the request of the current exchange got.
    var requestState: RequestState {
      switch (response, request) {
      case (.head, _): .answered
      case (_, .unsent): .notSent
      case (_, .begun), (_, .complete): .maybeSent
      }
    }

    /// The progress that must happen within its time limit now; `nil` if none: content is still being produced, or the
    /// reader is slow.
    ///
    /// While bytes wait to leave, nothing else is awaited: a server that does not have the request yet may take its time.
    /// That holds even after the head of the response, unless its reader is slow: the server may be waiting for it.
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
    /// - Returns: whether some have left since the last call.
    mutating func measured(unsent: Int) -> Bool {
      defer { self.unsent = unsent }
      return unsent < self.unsent
    }

    /// Completes the request: the socket has all of it, some of it perhaps ``unsent``.
    mutating func requestCompleted() {
      request = .complete
    }

    /// Removes an exchange whose request cannot be written. The connection is as good as before.
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

    /// Pauses reading because the reader does not take what was read. Returns `false` if it was paused already.
    mutating func paused() -> Bool {
      guard exchange != nil, !isPaused else { return false }
      isPaused = true
      return true
    }

    /// Resumes reading. Returns `false` if it was not paused.
    mutating func resumed() -> Bool {
      guard isPaused else { return false }
      isPaused = false
      return true
    }

    /// Completes the response. Returns whether the connection may carry another exchange.
    ///
    /// - Parameters:
    ///   - canReuse: whether the response permits it.
    ///   - isExact: whether no bytes follow the response.
    ///   - isOpen: whether the socket is open.
    mutating func responseCompleted(canReuse: Bool, isExact: Bool, isOpen: Bool) -> Bool {
      // A request that is incomplete now will stay so.
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
