#if NIO
  import ApusCore

  /// Which connections there are, who uses them, and who waits for one: a pure state machine, whose answers say what is to
  /// be done. It knows neither channels nor clocks nor locks.
  ///
  /// Rules: the connection used last is used first, so that the others can grow old. Whoever waits is given the first
  /// connection that becomes free, whichever was made for it. A connection is made only for someone who would otherwise
  /// wait, within both limits; where only the total stands in the way, the longest unused connection of another origin
  /// gives way. Where all are used and another origin's waiter came before all who wait for this one's, a connection
  /// that becomes free gives way too, as long as that origin has none or two fewer: a busy origin starves nobody, and
  /// connections do not go to and fro. A connection on which content is streamed counts for the total only, since a
  /// stream may take for ever; when the stream ends it is closed if it is one too many by then. A dial that fails fails
  /// one who waits, the first, unless others under way suffice for all; then it is tried again for those who are left.
  struct PoolState<Key: Hashable & Sendable, ConnectionID: Hashable & Sendable, WaiterID: Hashable & Sendable>: Sendable
  {
    /// What is to be done, in this order.
    enum Action: Sendable, Equatable {
      /// The waiter's exchange begins on the connection.
      case use(ConnectionID, WaiterID)
      /// A connection is to be made; answered by ``PoolState/dialed(_:for:now:)``,
      /// ``PoolState/dialFailed(for:now:)`` or ``PoolState/dialGivenUp(for:)``.
      case dial(Key)
      /// The waiter gets no connection.
      case refuse(WaiterID, Refusal)
      /// The connection is to be closed; it is forgotten already.
      case close(ConnectionID)
      /// ``PoolState/tick(now:)`` is to be called then. There is one of these at a time.
      case wake(MonotonicInstant)
      /// The pool was shut down and nothing is left.
      case drained
    }

    /// Why a waiter gets no connection.
    enum Refusal: Sendable, Hashable {
      /// The connection could not be made; the error is the one that was just reported.
      case dialFailed
      /// Too many wait already.
      case queueFull
      /// The pool is shut down.
      case shutDown
    }

    struct Connection: Sendable {
      let key: Key
      let openedAt: MonotonicInstant
      /// Since when it is unused; `nil` while it is used.
      var idleSince: MonotonicInstant?
      /// Whether it carries content that is read while it arrives.
      var isStreaming = false
    }

    struct Place: Sendable {
      let key: Key
      /// Who came first has the lower one.
      let ticket: UInt64
    }

    struct Host: Sendable {
      /// Unused connections, the one used last at the end.
      var idle: [ConnectionID] = []
      var waiters = WaiterQueue<WaiterID>()
      var open = 0
      var dialing = 0
      /// Those of the open ones that carry streamed content.
      var streaming = 0
      /// Those there are and those being made.
      var held: Int { open + dialing }
      var isEmpty: Bool { held == 0 && waiters.isEmpty }
    }

    let limits: PoolLimits
    var hosts: [Key: Host] = [:]
    var connections: [ConnectionID: Connection] = [:]
    /// Where each waiter waits, and when it came.
    var waiting: [WaiterID: Place] = [:]
    private var nextTicket: UInt64 = 0
    /// Origins whose waiters have no connection under way because of the total, longest first.
    var starved: [Key] = []
    var dialing = 0
    var idleCount = 0
    var isWakePending = false
    private(set) var isShutDown = false
    private var isDrained = false

    init(limits: PoolLimits = PoolLimits()) {
      self.limits = limits
    }

    /// Someone needs a connection: an unused one, a new one, or a place in the queue.
    ///
    /// - Parameter isAdmitted: whether it had a connection before: then it is not refused because many wait by now.
    mutating func acquire(
      _ waiter: WaiterID, for key: Key, isAdmitted: Bool = false, now: MonotonicInstant
    ) -> [Action] {
      guard !isShutDown else { return [.refuse(waiter, .shutDown)] }
      guard waiting[waiter] == nil else { return [] }
      var actions: [Action] = []
      while let connection = popIdle(of: key) {
        if isUsable(connection, now: now) {
          connections[connection]?.idleSince = nil
          actions.append(.use(connection, waiter))
          return actions
        }
        forget(connection)
        actions.append(.close(connection))
      }
      enqueue(waiter, for: key, isAdmitted: isAdmitted, &actions)
      return actions
    }

    /// Someone needs a connection that nothing was sent on before, whatever is unused.
    ///
    /// - Parameter isAdmitted: as above.
    mutating func acquireNew(_ waiter: WaiterID, for key: Key, isAdmitted: Bool = false) -> [Action] {
      guard !isShutDown else { return [.refuse(waiter, .shutDown)] }
      guard waiting[waiter] == nil else { return [] }
      var actions: [Action] = []
      makeRoom(for: key, &actions)
      enqueue(waiter, for: key, isAdmitted: isAdmitted, &actions)
      return actions
    }

    private mutating func enqueue(
      _ waiter: WaiterID, for key: Key, isAdmitted: Bool, _ actions: inout [Action]
    ) {
      guard isAdmitted || hasRoom(for: key) || waiting.count - min(dialing, waiting.count) < limits.waiting else {
        prune(key)
        actions.append(.refuse(waiter, .queueFull))
        return
      }
      waiting[waiter] = Place(key: key, ticket: nextTicket)
      nextTicket += 1
      hosts[key, default: Host()].waiters.append(waiter)
      dialIfNeeded(for: key, &actions)
    }

    /// Someone who waited does so no longer. What is under way for it becomes available to others.
    mutating func cancelled(_ waiter: WaiterID) -> [Action] {
      guard let key = waiting.removeValue(forKey: waiter)?.key else { return [] }
      _ = hosts[key]?.waiters.remove(waiter)
      if hosts[key]?.waiters.isEmpty == true { starved.removeAll { $0 == key } }
      prune(key)
      return []
    }

    /// A connection that was asked for is there.
    mutating func dialed(_ connection: ConnectionID, for key: Key, now: MonotonicInstant) -> [Action] {
      endDial(for: key)
      guard !isShutDown else {
        prune(key)
        return [.close(connection)] + drain()
      }
      hosts[key, default: Host()].open += 1
      connections[connection] = Connection(key: key, openedAt: now)
      return offer(connection, of: key, now: now)
    }

    /// A connection that was asked for could not be made.
    mutating func dialFailed(for key: Key, now: MonotonicInstant) -> [Action] {
      endDial(for: key)
      var actions: [Action] = []
      if let host = hosts[key], host.waiters.count > host.dialing, let waiter = popWaiter(of: key) {
        actions.append(.refuse(waiter, .dialFailed))
      }
      dialForStarved(&actions)
      dialIfNeeded(for: key, &actions)
      prune(key)
      return actions + drain()
    }

    /// A connection that was asked for is not made, because nobody waited for it (``hasUnwantedDials(to:)``). Who has
    /// come since has another one made.
    mutating func dialGivenUp(for key: Key) -> [Action] {
      endDial(for: key)
      var actions: [Action] = []
      dialForStarved(&actions)
      dialIfNeeded(for: key, &actions)
      prune(key)
      return actions + drain()
    }

    /// Whether connections are being made for which nobody waits.
    func hasUnwantedDials(to key: Key) -> Bool {
      hosts[key].map { $0.dialing > 0 && $0.waiters.isEmpty } ?? false
    }

    /// An exchange is over. `canReuse` is `false` when its connection may carry no other.
    mutating func released(_ connection: ConnectionID, canReuse: Bool, now: MonotonicInstant) -> [Action] {
      guard let record = connections[connection], record.idleSince == nil else { return [] }
      endStream(on: connection)
      guard canReuse, !isShutDown, !isAged(record, now: now), !isTooMany(record.key) else {
        return [.close(connection)] + closed(connection, now: now)
      }
      if let rival = rival(of: record.key) { return [.close(connection)] + hand(over: connection, to: rival) }
      return offer(connection, of: record.key, now: now)
    }

    /// The content of an answer is read while it arrives: others may have a connection in the place of this one.
    mutating func streams(_ connection: ConnectionID) -> [Action] {
      guard let record = connections[connection], record.idleSince == nil, !record.isStreaming else { return [] }
      connections[connection]?.isStreaming = true
      hosts[record.key]?.streaming += 1
      var actions: [Action] = []
      dialIfNeeded(for: record.key, &actions)
      return actions
    }

    /// A connection is closed, used or not, by whomever. Of one that is not known any more nothing follows.
    mutating func closed(_ connection: ConnectionID, now: MonotonicInstant) -> [Action] {
      guard let key = connections[connection]?.key else { return [] }
      forget(connection)
      var actions: [Action] = []
      dialForStarved(&actions)
      dialIfNeeded(for: key, &actions)
      prune(key)
      return actions + drain()
    }

    /// The instant of ``Action/wake(_:)`` has come: closes what has been unused for too long or is too old.
    mutating func tick(now: MonotonicInstant) -> [Action] {
      isWakePending = false
      var actions: [Action] = []
      for (connection, record) in connections where record.idleSince != nil && !isUsable(connection, now: now) {
        forget(connection)
        prune(record.key)
        actions.append(.close(connection))
      }
      dialForStarved(&actions)
      wake(&actions)
      return actions
    }

    /// No one gets a connection any more. Exchanges under way may end; ``Action/drained`` follows the last.
    mutating func shutDown() -> [Action] {
      guard !isShutDown else { return [] }
      isShutDown = true
      var actions: [Action] = []
      for (key, host) in hosts {
        actions += host.waiters.all.map { .refuse($0, .shutDown) }
        actions += host.idle.map { .close($0) }
        hosts[key]?.waiters = WaiterQueue()
        hosts[key]?.idle = []
        for connection in host.idle { forget(connection) }
        prune(key)
      }
      waiting = [:]
      starved = []
      idleCount = 0
      return actions + drain()
    }

    private mutating func drain() -> [Action] {
      guard isShutDown, !isDrained, connections.isEmpty, dialing == 0 else { return [] }
      isDrained = true
      return [.drained]
    }
  }
#endif
