#if NIO
  import ApusCore

  /// Where an exchange is between its caller and the connections, and what events lead to: pure; ``Exchange`` keeps it
  /// under a lock and does what it answers.
  ///
  /// Two sides touch it, the caller's task and a connection's event loop, and whoever comes first ends it. Whoever waits
  /// is told exactly once: with the first of ``answered()``, ``ended(onlyWhileWaiting:)`` that says so.
  struct ExchangeState<ConnectionID: Equatable> {
    enum Place: Equatable {
      /// Nobody has begun it.
      case nowhere
      /// It waits for a connection.
      case queued
      case on(ConnectionID)
      case over
    }

    /// What the end of an exchange leaves to be done.
    struct Ending: Equatable {
      /// Where it was: it has to be taken from there.
      let place: Place
      /// Whether somebody is to be told.
      let tells: Bool
      /// Whether the server may have it from an earlier connection, so that nobody may be told that it was not sent.
      let wasWritten: Bool

      /// How far it got, told by one who knows of its last connection only.
      func requestState(_ state: RequestState) -> RequestState {
        state == .notSent && wasWritten ? .maybeSent : state
      }
    }

    private(set) var place = Place.nowhere
    /// Whether somebody waits for the head.
    private var isAwaited = false
    /// Whether it found a connection closed, and so needs one that nothing was sent on before.
    private(set) var needsNewConnection = false
    /// Whether it was written to the connection that was closed, so that the server may have it.
    private var wasWritten = false

    /// Somebody waits for the answer: it needs a connection. `false` when it was ended before.
    mutating func begun() -> Bool {
      guard case .nowhere = place else { return false }
      place = .queued
      isAwaited = true
      return true
    }

    /// A connection takes it; `false` when it does not wait for one.
    mutating func entered(_ connection: ConnectionID) -> Bool {
      guard case .queued = place else { return false }
      place = .on(connection)
      return true
    }

    /// Its connection, used before, was closed before any byte of the answer: whether it goes to a new one. `false` when
    /// it did that already or is over.
    ///
    /// - Parameter wasWritten: whether any of it was written.
    mutating func requeued(wasWritten: Bool) -> Bool {
      guard !needsNewConnection else { return false }
      switch place {
      case .nowhere, .over: return false
      case .queued, .on:
        (needsNewConnection, self.wasWritten, place) = (true, wasWritten, .queued)
        return true
      }
    }

    /// The head is there while content still arrives; `false` when nobody waits for it.
    mutating func answered() -> Bool {
      defer { isAwaited = false }
      return isAwaited
    }

    /// It is over, for whatever reason.
    ///
    /// - Parameter onlyWhileWaiting: whether to leave it alone, and answer `nil`, where it has a connection or is over.
    mutating func ended(onlyWhileWaiting: Bool = false) -> Ending? {
      if onlyWhileWaiting { guard case .queued = place else { return nil } }
      defer { (place, isAwaited) = (.over, false) }
      return Ending(place: place, tells: isAwaited, wasWritten: wasWritten)
    }
  }
#endif
