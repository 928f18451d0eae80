#if NIO
  import ApusCore

  /// Where a connection is with the exchange on it, and what events lead to: pure; ``ConnectionHandler`` does what it
  /// answers, on the connection's loop.
  ///
  /// One exchange follows the other. Events of an exchange that is not on it any more change nothing.
  struct ConnectionState<ExchangeID: Equatable> {
    enum Request {
      /// The server has nothing of it.
      case unsent
      /// Bytes of it were given to the socket.
      case begun
      case complete
    }

    enum Response {
      case nothing
      /// Bytes came, but no final head.
      case begun
      /// The final head came.
      case head
    }

    /// What came of offering it an exchange.
    enum Beginning: Equatable {
      /// The exchange is to be put on it.
      case enter
      /// It cannot take any: nothing was written.
      case giveBack
      /// Nor that, and it is to be closed: it ended, or says what nobody asked for.
      case giveBackAndClose
    }

    /// What is to be done with bytes.
    enum Arrival: Equatable {
      case decode
      /// Nobody asked for them, and nobody shall take them for an answer: the connection is to be closed.
      case close
      case ignore
    }

    /// What the end of the socket leads to.
    enum Closing: Equatable {
      /// Nobody was waiting for anything.
      case end
      /// What has arrived is taken first, whenever that is.
      case wait
      /// The exchange may go out once more, on a new connection.
      case resend
      /// What has arrived is judged as all that comes.
      case judge
    }

    /// What has to go on by now.
    enum Owed: Equatable {
      /// Bytes of the request must leave.
      case room
      /// The server must send the head of its answer, or content.
      case head, content
    }

    private(set) var exchange: ExchangeID?
    private(set) var request = Request.unsent
    private(set) var response = Response.nothing
    /// Whether reading has stopped because nobody takes what was read.
    private(set) var isPaused = false
    /// Whether the connection ended before everything that had arrived was taken.
    private(set) var isCutShort = false
    /// Closed, or about to be: nothing that comes in matters.
    private(set) var isOver = false
    /// Whether an exchange was completed on it.
    private(set) var hasServed = false
    /// Bytes of the request that had not left at the last look (``looked(unsent:)``), and those written since.
    private(set) var unsent = 0

    /// How far the request of the exchange on it got.
    var requestState: RequestState {
      switch (response, request) {
      case (.head, _): .answered
      case (_, .unsent): .notSent
      case (_, .begun), (_, .complete): .maybeSent
      }
    }

    /// What must go on within its time now; `nil` where nothing does: content to send is still being made, or nobody
    /// reads.
    ///
    /// While bytes wait to leave nothing else is owed: a server that has not got the request may take its time. That the
    /// head of an answer is there already changes nothing about it, unless nobody reads that: the server may wait for
    /// its reader.
    var owed: Owed? {
      guard exchange != nil, !isPaused else { return nil }
      if unsent > 0 { return .room }
      guard request == .complete else { return nil }
      return response == .head ? .content : .head
    }

    // MARK: The request

    /// An exchange is to begin.
    ///
    /// - Parameters:
    ///   - isOpen: whether the socket is.
    ///   - hasUnread: looks whether something has arrived that nobody has read; asked only where one came before.
    mutating func offered(isOpen: Bool, hasUnread: () -> Bool) -> Beginning {
      guard exchange == nil, !isOver, isOpen else { return .giveBack }
      guard hasServed, hasUnread() else { return .enter }
      isOver = true
      return .giveBackAndClose
    }

    /// The exchange is on it.
    mutating func entered(_ exchange: ExchangeID) {
      self.exchange = exchange
    }

    /// From now on the server may have some of the request.
    mutating func requestBegun() {
      request = .begun
    }

    /// Content was given to the socket, which may keep it for a while.
    mutating func wrote(_ count: Int) {
      unsent += count
    }

    /// Takes how many bytes of the request have not left.
    ///
    /// - Returns: whether some of it has left since.
    mutating func looked(unsent: Int) -> Bool {
      defer { self.unsent = unsent }
      return unsent < self.unsent
    }

    /// The socket may have all of the request; some of it may be ``unsent``.
    mutating func requestCompleted() {
      request = .complete
    }

    /// The request cannot be written: the connection is as good as before.
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

    /// Nobody takes what was read; `false` when that is known.
    mutating func paused() -> Bool {
      guard exchange != nil, !isPaused else { return false }
      isPaused = true
      return true
    }

    /// What was read is taken again; `false` when it was all along.
    mutating func resumed() -> Bool {
      guard isPaused else { return false }
      isPaused = false
      return true
    }

    /// The response is complete: whether the connection may take another exchange.
    ///
    /// - Parameters:
    ///   - canReuse: whether the response lets it.
    ///   - isExact: whether nothing came beyond the response, which would be nobody's.
    ///   - isOpen: whether the socket is.
    mutating func responseCompleted(canReuse: Bool, isExact: Bool, isOpen: Bool) -> Bool {
      // A request that is not complete yet never will be.
      let isReusable = canReuse && isExact && isOpen && request == .complete
      clear()
      isOver = !isReusable
      hasServed = true
      return isReusable
    }

    // MARK: Endings

    /// Nobody uses it and nobody shall: `false` where it is used, or was closed before.
    mutating func closedUnused() -> Bool {
      guard exchange == nil, !isOver else { return false }
      isOver = true
      return true
    }

    /// The exchange is over before its response is complete: nothing else can use the connection.
    mutating func broken() {
      clear()
      isOver = true
    }

    /// The socket is closed, by whomever.
    ///
    /// - Parameter isRepeatable: whether the request may go out twice without harm.
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
