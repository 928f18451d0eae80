import ApusCore

/// The connections of a transport, their users and their waiters. A pure state machine without channels, clocks or
/// locks: events return the actions to perform.
///
/// - The most recently used connection is reused first, so that surplus connections become idle long enough to be
///   closed.
/// - A waiter gets the first connection that becomes free, even if it was made for another waiter.
/// - A connection is made only for a waiter, within both limits. If only the total limit is reached, the connection
///   that has been idle longest, of any origin, is closed to make room.
/// - While the total limit is reached, a freed connection may be closed in favor of another origin. That origin must
///   have a waiter that arrived before all waiters of this origin, and no connection or at least two fewer than this
///   origin. So a busy origin does not starve other origins, and connections do not oscillate between origins.
/// - A connection that streams content counts only toward the total limit, because a stream may last indefinitely. When
///   the stream ends, the connection is closed if its origin then has too many connections.
/// - A failed connection attempt fails the first waiter, unless the attempts under way suffice for all waiters. A new
///   attempt is then started for the remaining waiters.
struct PoolState<Key: Hashable & Sendable, ConnectionID: Hashable & Sendable, WaiterID: Hashable & Sendable>: Sendable {
  /// The actions to perform, in this order.
  enum Action: Sendable, Equatable {
    /// Start the waiter's exchange on the connection.
    case use(ConnectionID, WaiterID)
    /// Make a connection, then report ``PoolState/connected(_:for:now:)``, ``PoolState/connectFailed(for:now:)`` or
    /// ``PoolState/connectGivenUp(for:)``.
    case connect(Key)
    /// Fail the waiter.
    case refuse(WaiterID, Refusal)
    /// Close the connection, which the pool has already removed.
    case close(ConnectionID)
    /// Call ``PoolState/tick(now:)`` at this instant. At most one wake-up is pending.
    case wake(MonotonicInstant)
    /// Report that the pool is shut down and empty.
    case drained
  }

  /// The reason why a waiter is refused.
  enum Refusal: Sendable, Hashable {
    /// The connection attempt failed with the error just reported.
    case connectFailed
    /// There are already too many waiters.
    case queueFull
    /// The pool is shut down.
    case shutDown
  }

  private struct Connection: Sendable {
    /// The slot of its origin in ``origins``.
    let origin: Int
    let openedAt: MonotonicInstant
    /// The start of the idle time; `nil` while the connection is in use.
    var idleSince: MonotonicInstant?
    /// Whether the connection carries content that is read as it arrives.
    var isStreaming = false
  }

  private struct Position: Sendable {
    /// The slot of its origin in ``origins``.
    let origin: Int
    /// The order of arrival over all origins.
    let ticket: UInt64
  }

  private struct Idle: Sendable {
    let connection: ConnectionID
    /// The slot of the connection in ``connections``.
    let slot: Int
  }

  /// The connections and the waiters of one origin.
  private struct OriginRecord: Sendable {
    let key: Key
    /// The idle connections, the most recently used at the end.
    var idle: [Idle] = []
    var waiters = RemovableQueue<WaiterID>()
    var open = 0
    var connecting = 0
    /// The number of open connections that carry streamed content.
    var streaming = 0
    /// The number of connections that are open or being made.
    var held: Int { open + connecting }
    var isEmpty: Bool { held == 0 && waiters.isEmpty }
  }

  let limits: PoolLimits
  // `Slots` is used instead of a dictionary, because each change of a large value in a dictionary allocates memory.
  private var origins = Slots<OriginRecord>()
  private var originSlots: [Key: Int] = [:]
  private var connections = Slots<Connection>()
  private var connectionSlots: [ConnectionID: Int] = [:]
  /// The origin and the order of arrival of each waiter.
  private var waiting: [WaiterID: Position] = [:]
  private var nextTicket: UInt64 = 0
  /// The slots of the origins whose waiters have no connection attempt under way because of the total limit, in order
  /// of arrival.
  private var starved: [Int] = []
  private var connecting = 0
  private var idleCount = 0
  private var isWakePending = false
  private var isShutDown = false
  private var isDrained = false

  init(limits: PoolLimits = PoolLimits()) {
    self.limits = limits
  }

  // MARK: Queries

  /// The numbers of connections and waiters.
  struct Counts: Sendable, Equatable {
    var active = 0
    var idle = 0
    var connecting = 0
    var waiting = 0
  }

  /// The numbers of connections and waiters, over all origins.
  var counts: Counts {
    Counts(active: connections.count - idleCount, idle: idleCount, connecting: connecting, waiting: waiting.count)
  }

  /// All open connections, in any order.
  var openConnections: [ConnectionID] { Array(connectionSlots.keys) }

  /// Whether the pool has no connection, waiter or connection attempt, and no record of an origin.
  var isEmpty: Bool { originSlots.isEmpty && connectionSlots.isEmpty && waiting.isEmpty && connecting == 0 }

  /// Whether the pool has a record of an origin.
  func knows(origin key: Key) -> Bool { originSlots[key] != nil }

  /// Whether a connection belongs to the pool.
  func knows(_ connection: ConnectionID) -> Bool { connectionSlots[connection] != nil }

  /// Whether an origin's waiters have no connection attempt under way because of the total limit.
  var hasStarvedOrigins: Bool { !starved.isEmpty }

  /// Whether an origin's connection attempts suffice for all of its waiters, so that the last waiter need not wait for
  /// other calls.
  func isConnecting(forLastOf key: Key) -> Bool {
    guard let origin = originSlots[key] else { return false }
    return origins.items[origin].waiters.count <= origins.items[origin].connecting
  }

  /// Whether connection attempts are under way although the origin has no waiter.
  func hasUnneededAttempts(to key: Key) -> Bool {
    guard let origin = originSlots[key] else { return false }
    return origins.items[origin].connecting > 0 && origins.items[origin].waiters.isEmpty
  }

  // MARK: Events: waiters

  /// Assigns an idle connection to a waiter, starts a connection attempt for it, or queues it.
  ///
  /// - Parameter isAdmitted: whether the waiter had a connection before; such a waiter is not refused when the queue is
  ///   full.
  mutating func acquire(
    _ waiter: WaiterID, for key: Key, isAdmitted: Bool = false, now: MonotonicInstant
  ) -> [Action] {
    guard !isShutDown else { return [.refuse(waiter, .shutDown)] }
    guard waiting.isEmpty || waiting[waiter] == nil else { return [] }
    let origin = originSlot(for: key)
    var actions: [Action] = []
    while let idle = origins.items[origin].idle.popLast() {
      idleCount -= 1
      if isUsable(connections.items[idle.slot], now: now) {
        connections.items[idle.slot].idleSince = nil
        actions.append(.use(idle.connection, waiter))
        return actions
      }
      forget(idle.connection)
      actions.append(.close(idle.connection))
    }
    enqueue(waiter, for: origin, isAdmitted: isAdmitted, &actions)
    return actions
  }

  /// Starts a connection attempt for a waiter, or queues the waiter. Idle connections are not used, because they have
  /// carried exchanges before.
  ///
  /// - Parameter isAdmitted: see ``acquire(_:for:isAdmitted:now:)``.
  mutating func acquireNew(_ waiter: WaiterID, for key: Key, isAdmitted: Bool = false) -> [Action] {
    guard !isShutDown else { return [.refuse(waiter, .shutDown)] }
    guard waiting[waiter] == nil else { return [] }
    let origin = originSlot(for: key)
    var actions: [Action] = []
    makeRoom(for: origin, &actions)
    enqueue(waiter, for: origin, isAdmitted: isAdmitted, &actions)
    return actions
  }

  private mutating func enqueue(
    _ waiter: WaiterID, for origin: Int, isAdmitted: Bool, _ actions: inout [Action]
  ) {
    guard isAdmitted || hasRoom(for: origin) || waiting.count - min(connecting, waiting.count) < limits.waiting else {
      prune(origin)
      actions.append(.refuse(waiter, .queueFull))
      return
    }
    waiting[waiter] = Position(origin: origin, ticket: nextTicket)
    nextTicket += 1
    origins.items[origin].waiters.append(waiter)
    connectIfNeeded(for: origin, &actions)
  }

  /// Removes a waiter. A connection attempt under way for it continues, for other waiters.
  mutating func cancelled(_ waiter: WaiterID) -> [Action] {
    guard let origin = waiting.removeValue(forKey: waiter)?.origin else { return [] }
    _ = origins.items[origin].waiters.remove(waiter)
    if origins.items[origin].waiters.isEmpty { starved.removeAll { $0 == origin } }
    prune(origin)
    return []
  }

  // MARK: Events: connection attempts

  /// Adds a new connection.
  mutating func connected(_ connection: ConnectionID, for key: Key, now: MonotonicInstant) -> [Action] {
    let origin = endAttempt(for: key)
    guard !isShutDown else {
      prune(origin)
      return [.close(connection)] + drain()
    }
    origins.items[origin].open += 1
    let record = Connection(origin: origin, openedAt: now)
    let slot = connections.take(orMake: record)
    connections.items[slot] = record
    connectionSlots[connection] = slot
    return offer(connection, at: slot, now: now)
  }

  /// Ends a connection attempt that failed.
  mutating func connectFailed(for key: Key, now: MonotonicInstant) -> [Action] {
    let origin = endAttempt(for: key)
    var actions: [Action] = []
    if origins.items[origin].waiters.count > origins.items[origin].connecting, let waiter = popWaiter(of: origin) {
      actions.append(.refuse(waiter, .connectFailed))
    }
    return actions + connectAgain(for: origin)
  }

  /// Ends a connection attempt that was given up because no waiter needed it (``hasUnneededAttempts(to:)``). Starts
  /// another connection attempt if waiters have arrived since.
  mutating func connectGivenUp(for key: Key) -> [Action] {
    connectAgain(for: endAttempt(for: key))
  }

  // MARK: Events: connections

  /// Ends the use of a connection.
  ///
  /// - Parameter canReuse: `false` if the connection may not carry another exchange.
  mutating func released(_ connection: ConnectionID, canReuse: Bool, now: MonotonicInstant) -> [Action] {
    guard let slot = connectionSlots[connection], connections.items[slot].idleSince == nil else { return [] }
    endStream(at: slot)
    let origin = connections.items[slot].origin
    guard canReuse, !isShutDown, !isAged(connections.items[slot], now: now), !hasTooMany(origin) else {
      return [.close(connection)] + closed(connection, now: now)
    }
    if let rival = rival(of: origin) { return [.close(connection)] + replace(connection, of: origin, for: rival) }
    return offer(connection, at: slot, now: now)
  }

  /// Marks a connection as streaming, so that its origin may have another connection.
  mutating func streamingStarted(on connection: ConnectionID) -> [Action] {
    guard let slot = connectionSlots[connection] else { return [] }
    let record = connections.items[slot]
    guard record.idleSince == nil, !record.isStreaming else { return [] }
    connections.items[slot].isStreaming = true
    origins.items[record.origin].streaming += 1
    var actions: [Action] = []
    connectIfNeeded(for: record.origin, &actions)
    return actions
  }

  /// Removes a connection that was closed by either side. Does nothing for an unknown connection.
  mutating func closed(_ connection: ConnectionID, now: MonotonicInstant) -> [Action] {
    guard let slot = connectionSlots[connection] else { return [] }
    let origin = connections.items[slot].origin
    forget(connection)
    return connectAgain(for: origin)
  }

  /// Closes connections that are idle for too long or too old, at the instant of ``Action/wake(_:)``.
  mutating func tick(now: MonotonicInstant) -> [Action] {
    isWakePending = false
    var actions: [Action] = []
    for (connection, slot) in connectionSlots {
      let record = connections.items[slot]
      guard record.idleSince != nil, !isUsable(record, now: now) else { continue }
      forget(connection)
      prune(record.origin)
      actions.append(.close(connection))
    }
    connectForStarved(&actions)
    wake(&actions)
    return actions
  }

  /// Refuses all waiters from now on. Exchanges under way may end; ``Action/drained`` follows the last exchange.
  mutating func shutDown() -> [Action] {
    guard !isShutDown else { return [] }
    isShutDown = true
    var actions: [Action] = []
    for origin in originSlots.values {
      actions += origins.items[origin].waiters.all.map { .refuse($0, .shutDown) }
      origins.items[origin].waiters = RemovableQueue()
      for idle in origins.items[origin].idle {
        actions.append(.close(idle.connection))
        forget(idle.connection)
      }
      prune(origin)
    }
    waiting = [:]
    starved = []
    return actions + drain()
  }

  private mutating func drain() -> [Action] {
    guard isShutDown, !isDrained, connectionSlots.isEmpty, connecting == 0 else { return [] }
    isDrained = true
    return [.drained]
  }
}

// MARK: - Steps

extension PoolState {
  /// Returns the slot of an origin.
  private mutating func originSlot(for key: Key) -> Int {
    if let origin = originSlots[key] { return origin }
    let fresh = OriginRecord(key: key)
    let origin = origins.take(orMake: fresh)
    origins.items[origin] = fresh
    originSlots[key] = origin
    return origin
  }

  /// Assigns a free connection to the origin's first waiter, or marks it as idle.
  private mutating func offer(_ connection: ConnectionID, at slot: Int, now: MonotonicInstant) -> [Action] {
    let origin = connections.items[slot].origin
    if let waiter = popWaiter(of: origin) { return [.use(connection, waiter)] }
    var actions: [Action] = []
    connections.items[slot].idleSince = now
    origins.items[origin].idle.append(Idle(connection: connection, slot: slot))
    idleCount += 1
    // Closes the idle connection immediately if another origin waits because of the total limit.
    connectForStarved(&actions)
    wake(&actions)
    return actions
  }

  private mutating func popWaiter(of origin: Int) -> WaiterID? {
    guard let waiter = origins.items[origin].waiters.popFirst() else { return nil }
    waiting[waiter] = nil
    return waiter
  }

  /// Ends a connection attempt. Returns the slot of its origin.
  private mutating func endAttempt(for key: Key) -> Int {
    let origin = originSlot(for: key)
    connecting -= 1
    origins.items[origin].connecting -= 1
    return origin
  }

  /// Starts the connection attempts that have become possible because a connection or connection attempt ended.
  private mutating func connectAgain(for origin: Int) -> [Action] {
    var actions: [Action] = []
    connectForStarved(&actions)
    connectIfNeeded(for: origin, &actions)
    prune(origin)
    return actions + drain()
  }

  /// Starts a connection attempt if the origin has more waiters than connection attempts.
  private mutating func connectIfNeeded(for origin: Int, _ actions: inout [Action]) {
    guard needsConnect(origin) else { return }
    guard isBelowTotal || makeRoom(&actions) else {
      if !starved.contains(origin) { starved.append(origin) }
      return
    }
    origins.items[origin].connecting += 1
    connecting += 1
    actions.append(.connect(origins.items[origin].key))
  }

  /// Whether a further waiter need not wait for other calls: a connection attempt without a waiter is under way, or a
  /// connection attempt may start.
  private func hasRoom(for origin: Int) -> Bool {
    origins.items[origin].waiters.count < origins.items[origin].connecting
      || isBelowLimit(origin) && (isBelowTotal || idleCount > 0)
  }

  /// Returns the number of an origin's connections that count toward the limit per origin.
  private func counted(_ origin: Int) -> Int { origins.items[origin].held - origins.items[origin].streaming }

  private func isBelowLimit(_ origin: Int) -> Bool { counted(origin) < max(1, limits.connectionsPerOrigin) }

  /// Whether an origin has more connections than its limit, because further connections were made while some were
  /// streaming.
  private func hasTooMany(_ origin: Int) -> Bool { counted(origin) > max(1, limits.connectionsPerOrigin) }

  /// Marks a connection as no longer streaming.
  private mutating func endStream(at slot: Int) {
    guard connections.items[slot].isStreaming else { return }
    connections.items[slot].isStreaming = false
    origins.items[connections.items[slot].origin].streaming -= 1
  }

  private var isBelowTotal: Bool {
    connections.count + connecting < max(1, limits.connections)
  }

  private func needsConnect(_ origin: Int) -> Bool {
    !isShutDown && origins.items[origin].waiters.count > origins.items[origin].connecting && isBelowLimit(origin)
  }

  /// Starts connection attempts for starved origins in turn, as long as the total limit permits.
  private mutating func connectForStarved(_ actions: inout [Action]) {
    while let origin = starved.first {
      guard needsConnect(origin) else {
        starved.removeFirst()
        continue
      }
      let before = connecting
      connectIfNeeded(for: origin, &actions)
      guard connecting > before else { return }
      // Each origin gets one connection attempt in turn.
      starved.removeFirst()
      if needsConnect(origin) { starved.append(origin) }
    }
  }

  /// Returns the origin that has starved longest, if a connection to `origin` must be closed in its favor.
  private func rival(of origin: Int) -> Int? {
    starved.first { other in
      guard other != origin, needsConnect(other), let ticket = firstTicket(of: other) else { return false }
      // An earlier waiter of this origin has precedence. Without waiters of this origin, the connection becomes idle
      // and is closed for the other origin anyway.
      guard let own = firstTicket(of: origin), ticket < own else { return false }
      return origins.items[other].held == 0 || origins.items[other].held + 1 < origins.items[origin].held
    }
  }

  private func firstTicket(of origin: Int) -> UInt64? {
    origins.items[origin].waiters.first.flatMap { waiting[$0]?.ticket }
  }

  /// Closes a connection in favor of another origin.
  private mutating func replace(_ connection: ConnectionID, of origin: Int, for rival: Int) -> [Action] {
    forget(connection)
    starved.removeAll { $0 == rival }
    var actions: [Action] = []
    connectIfNeeded(for: rival, &actions)
    // Both origins may need a connection attempt; the other origin comes first.
    for next in [rival, origin] { connectIfNeeded(for: next, &actions) }
    prune(origin)
    return actions
  }

  /// Closes the connection that has been idle longest. Returns whether there was an idle connection.
  private mutating func makeRoom(_ actions: inout [Action]) -> Bool {
    guard idleCount > 0 else { return false }
    var oldest: (connection: ConnectionID, origin: Int, since: MonotonicInstant)?
    for (connection, slot) in connectionSlots {
      let record = connections.items[slot]
      guard let since = record.idleSince, oldest.map({ since < $0.since }) ?? true else { continue }
      oldest = (connection, record.origin, since)
    }
    guard let (connection, origin, _) = oldest else { return false }
    forget(connection)
    prune(origin)
    actions.append(.close(connection))
    return true
  }

  /// Closes the origin's connection that has been idle longest if the origin's limit permits no further connection.
  private mutating func makeRoom(for origin: Int, _ actions: inout [Action]) {
    guard !isBelowLimit(origin), let connection = origins.items[origin].idle.first?.connection else { return }
    forget(connection)
    actions.append(.close(connection))
  }

  /// Removes a connection from all records.
  private mutating func forget(_ connection: ConnectionID) {
    guard let slot = connectionSlots.removeValue(forKey: connection) else { return }
    let origin = connections.items[slot].origin
    connections.giveBack(slot)
    origins.items[origin].open -= 1
    if connections.items[slot].isStreaming { origins.items[origin].streaming -= 1 }
    guard let index = origins.items[origin].idle.firstIndex(where: { $0.slot == slot }) else { return }
    origins.items[origin].idle.remove(at: index)
    idleCount -= 1
  }

  /// Removes the record of an origin without connections and waiters, so that records do not accumulate.
  private mutating func prune(_ origin: Int) {
    guard origins.items[origin].isEmpty, originSlots[origins.items[origin].key] == origin else { return }
    originSlots[origins.items[origin].key] = nil
    starved.removeAll { $0 == origin }
    origins.giveBack(origin)
  }

  private func isUsable(_ record: Connection, now: MonotonicInstant) -> Bool {
    guard let since = record.idleSince else { return false }
    return since.duration(to: now) < limits.idleTimeout && !isAged(record, now: now)
  }

  private func isAged(_ record: Connection, now: MonotonicInstant) -> Bool {
    limits.maximumAge.map { record.openedAt.duration(to: now) >= $0 } ?? false
  }

  /// Requests a wake-up for the instant when the first idle connection expires, unless a wake-up is pending.
  private mutating func wake(_ actions: inout [Action]) {
    guard !isWakePending, idleCount > 0, !isShutDown else { return }
    var first: MonotonicInstant?
    for slot in connectionSlots.values {
      guard let since = connections.items[slot].idleSince else { continue }
      var due = since.advanced(by: limits.idleTimeout)
      if let age = limits.maximumAge { due = min(due, connections.items[slot].openedAt.advanced(by: age)) }
      first = min(first ?? due, due)
    }
    guard let first else { return }
    isWakePending = true
    actions.append(.wake(first))
  }
}
