import ApusCore

/// The position of an exchange between its caller and the connections. A pure state machine; ``Exchange`` stores it
/// under a lock.
///
/// The caller's task and a connection's event loop both change it, and the first to end the exchange wins. The caller
/// is resumed exactly once: by the first call of ``headDelivered()`` or ``ended(onlyWhileWaiting:)``.
struct ExchangeState<ConnectionID: Equatable> {
  enum Position: Equatable {
    /// The exchange has not started.
    case nowhere
    /// The exchange waits for a connection.
    case queued
    case on(ConnectionID)
    case over
  }

  /// The reason why an exchange leaves its connection and is sent again on another.
  enum Return: Equatable {
    /// A reused connection closed before any byte of the response arrived. `wasWritten`: whether any of the request was
    /// written.
    case stale(wasWritten: Bool)
    /// The server has not processed the request: the request was never written, or the server said so.
    case unprocessed
    /// The server does not serve the origin on this connection (421).
    case misdirected
    /// The server serves the origin only over HTTP/1.1.
    case wrongProtocol
  }

  /// The consequences of an exchange's end.
  struct Ending: Equatable {
    /// The position from which the exchange must be removed.
    let place: Position
    let resumesCaller: Bool
    /// Whether an earlier connection may have delivered the request, so that the state is not `notSent`.
    let wasWritten: Bool

    /// Corrects a request state that describes only the last connection.
    func requestState(_ state: RequestState) -> RequestState {
      state == .notSent && wasWritten ? .maybeSent : state
    }
  }

  private(set) var place = Position.nowhere
  /// Whether the caller waits for the head.
  private var isAwaited = false
  /// Whether a reused connection was closed, or does not serve the origin, so that the exchange needs a new connection.
  private(set) var needsNewConnection = false
  /// Whether the server has refused the request as misdirected.
  private(set) var wasMisdirected = false
  private var wasWrongProtocol = false
  private var isStale = false
  /// The number of times that the exchange was sent again because the server had not processed it.
  private var unprocessedCount = 0
  /// Whether the request was written to a connection that may have delivered it.
  private var wasWritten = false

  /// The maximum number of times that an exchange is sent again because the server has not processed it.
  static var maximumUnprocessed: Int { 3 }

  /// Starts to wait for a connection. Returns `false` if the exchange has ended already.
  mutating func begun() -> Bool {
    guard case .nowhere = place else { return false }
    place = .queued
    isAwaited = true
    return true
  }

  /// Assigns the exchange to a connection. Returns `false` if the exchange does not wait for a connection.
  mutating func entered(_ connection: ConnectionID) -> Bool {
    guard case .queued = place else { return false }
    place = .on(connection)
    return true
  }

  /// Removes the exchange from its connection. The exchange then waits for another connection. Returns `false` if the
  /// exchange was removed for this reason before, or too often, or has ended.
  mutating func requeued(_ reason: Return) -> Bool {
    switch place {
    case .nowhere, .over: return false
    case .queued, .on: break
    }
    switch reason {
    case .stale(let wasWritten):
      guard !isStale else { return false }
      (isStale, needsNewConnection) = (true, true)
      self.wasWritten = self.wasWritten || wasWritten
    case .unprocessed:
      guard unprocessedCount < Self.maximumUnprocessed else { return false }
      unprocessedCount += 1
    case .misdirected:
      guard !wasMisdirected else { return false }
      (wasMisdirected, needsNewConnection, wasWritten) = (true, true, true)
    case .wrongProtocol:
      guard !wasWrongProtocol else { return false }
      (wasWrongProtocol, wasWritten) = (true, true)
    }
    place = .queued
    return true
  }

  /// Delivers the head while content still arrives. Returns `false` if the caller does not wait for the head.
  mutating func headDelivered() -> Bool {
    defer { isAwaited = false }
    return isAwaited
  }

  /// Ends the exchange, for any reason.
  ///
  /// - Parameter onlyWhileWaiting: whether to return `nil` and change nothing unless the exchange waits for a
  ///   connection.
  mutating func ended(onlyWhileWaiting: Bool = false) -> Ending? {
    if onlyWhileWaiting { guard case .queued = place else { return nil } }
    defer { (place, isAwaited) = (.over, false) }
    return Ending(place: place, resumesCaller: isAwaited, wasWritten: wasWritten)
  }
}
