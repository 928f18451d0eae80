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
  /// Whether a reused connection was closed, so that the exchange needs a new connection.
  private(set) var needsNewConnection = false
  /// Whether the request was written to the connection that was closed.
  private var wasWritten = false

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

  /// Removes the exchange from a reused connection that closed before any byte of the response arrived. The exchange
  /// then waits for a new connection. Returns `false` if the exchange was removed this way before, or has ended.
  ///
  /// - Parameter wasWritten: whether any of the request was written.
  mutating func requeued(wasWritten: Bool) -> Bool {
    guard !needsNewConnection else { return false }
    switch place {
    case .nowhere, .over: return false
    case .queued, .on:
      (needsNewConnection, self.wasWritten, place) = (true, wasWritten, .queued)
      return true
    }
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
