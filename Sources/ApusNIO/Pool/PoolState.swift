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
    /// The slot of its origin in ``hosts``.
    let host: Int
    let openedAt: MonotonicInstant
    /// The start of the idle time; `nil` while the connection is in use.
    var idleSince: MonotonicInstant?
    /// Whether the connection carries content that is read as it arrives.
    var isStreaming = false
  }

  private struct Position: Sendable {
    /// The slot of its origin in ``hosts``.
    let host: Int
    /// The order of arrival over all origins.
    let ticket: UInt64
  }

  private struct Idle: Sendable {
    let connection: ConnectionID
    /// The slot of the connection in ``connections``.
    let slot: Int
  }

  private struct Host: Sendable {
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
  private var hosts = Slots<Host>()
  private var hostSlots: [Key: Int] = [:]
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
  var isEmpty: Bool { hostSlots.isEmpty && connectionSlots.isEmpty && waiting.isEmpty && connecting == 0 }

  /// Whether the pool has a record of an origin.
  func knows(origin key: Key) -> Bool { hostSlots[key] != nil }

  /// Whether a connection belongs to the pool.
  func knows(_ connection: ConnectionID) -> Bool { connectionSlots[connection] != nil }

  /// Whether an origin's waiters have no connection attempt under way because of the total limit.
  var hasStarvedOrigins: Bool { !starved.isEmpty }

  /// Whether an origin's connection attempts suffice for all of its waiters, so that the last waiter need not wait for
  /// other calls.
  func isConnecting(forLastOf key: Key) -> Bool {
    guard let host = hostSlots[key] else { return false }
    return hosts.items[host].waiters.count <= hosts.items[host].connecting
  }

  /// Whether connection attempts are under way although the origin has no waiter.
  func hasUnneededAttempts(to key: Key) -> Bool {
    guard let host = hostSlots[key] else { return false }
    return hosts.items[host].connecting > 0 && hosts.items[host].waiters.isEmpty
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
    let host = host(for: key)
    var actions: [Action] = []
    while let idle = hosts.items[host].idle.popLast() {
      idleCount -= 1
      if isUsable(connections.items[idle.slot], now: now) {
        connections.items[idle.slot].idleSince = nil
        actions.append(.use(idle.connection, waiter))
        return actions
      }
      forget(idle.connection)
      actions.append(.close(idle.connection))
    }
    enqueue(waiter, for: host, isAdmitted: isAdmitted, &actions)
    return actions
  }

  /// Starts a connection attempt for a waiter, or queues the waiter. Idle connections are not used, because they have
  /// carried exchanges before.
  ///
  /// - Parameter isAdmitted: see ``acquire(_:for:isAdmitted:now:)``.
  mutating func acquireNew(_ waiter: WaiterID, for key: Key, isAdmitted: Bool = false) -> [Action] {
    guard !isShutDown else { return [.refuse(waiter, .shutDown)] }
    guard waiting[waiter] == nil else { return [] }
    let host = host(for: key)
    var actions: [Action] = []
    makeRoom(for: host, &actions)
    enqueue(waiter, for: host, isAdmitted: isAdmitted, &actions)
    return actions
  }

  private mutating func enqueue(
    _ waiter: WaiterID, for host: Int, isAdmitted: Bool, _ actions: inout [Action]
  ) {
    guard isAdmitted || hasRoom(for: host) || waiting.count - min(connecting, waiting.count) < limits.waiting else {
      prune(host)
      actions.append(.refuse(waiter, .queueFull))
      return
    }
    waiting[waiter] = Position(host: host, ticket: nextTicket)
    nextTicket += 1
    hosts.items[host].waiters.append(waiter)
    connectIfNeeded(for: host, &actions)
  }

  /// Removes a waiter. A connection attempt under way for it continues, for other waiters.
  mutating func cancelled(_ waiter: WaiterID) -> [Action] {
    guard let host = waiting.removeValue(forKey: waiter)?.host else { return [] }
    _ = hosts.items[host].waiters.remove(waiter)
    if hosts.items[host].waiters.isEmpty { starved.removeAll { $0 == host } }
    prune(host)
    return []
  }

  // MARK: Events: connection attempts

  /// Adds a new connection.
  mutating func connected(_ connection: ConnectionID, for key: Key, now: MonotonicInstant) -> [Action] {
    let host = endAttempt(for: key)
    guard !isShutDown else {
      prune(host)
      return [.close(connection)] + drain()
    }
    hosts.items[host].open += 1
    let record = Connection(host: host, openedAt: now)
    let slot = connections.take(orMake: record)
    connections.items[slot] = record
    connectionSlots[connection] = slot
    return offer(connection, at: slot, now: now)
  }

  /// Ends a connection attempt that failed.
  mutating func connectFailed(for key: Key, now: MonotonicInstant) -> [Action] {
    let host = endAttempt(for: key)
    var actions: [Action] = []
    if hosts.items[host].waiters.count > hosts.items[host].connecting, let waiter = popWaiter(of: host) {
      actions.append(.refuse(waiter, .connectFailed))
    }
    return actions + connectAgain(for: host)
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
    let host = connections.items[slot].host
    guard canReuse, !isShutDown, !isAged(connections.items[slot], now: now), !hasTooMany(host) else {
      return [.close(connection)] + closed(connection, now: now)
    }
    if let rival = rival(of: host) { return [.close(connection)] + replace(connection, of: host, for: rival) }
    return offer(connection, at: slot, now: now)
  }

  /// Marks a connection as streaming, so that its origin may have another connection.
  mutating func streamingStarted(on connection: ConnectionID) -> [Action] {
    guard let slot = connectionSlots[connection] else { return [] }
    let record = connections.items[slot]
    guard record.idleSince == nil, !record.isStreaming else { return [] }
    connections.items[slot].isStreaming = true
    hosts.items[record.host].streaming += 1
    var actions: [Action] = []
    connectIfNeeded(for: record.host, &actions)
    return actions
  }

  /// Removes a connection that was closed by either side. Does nothing for an unknown connection.
  mutating func closed(_ connection: ConnectionID, now: MonotonicInstant) -> [Action] {
    guard let slot = connectionSlots[connection] else { return [] }
    let host = connections.items[slot].host
    forget(connection)
    return connectAgain(for: host)
  }

  /// Closes connections that are idle for too long or too old, at the instant of ``Action/wake(_:)``.
  mutating func tick(now: MonotonicInstant) -> [Action] {
    isWakePending = false
    var actions: [Action] = []
    for (connection, slot) in connectionSlots {
      let record = connections.items[slot]
      guard record.idleSince != nil, !isUsable(record, now: now) else { continue }
      forget(connection)
      prune(record.host)
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
    for host in hostSlots.values {
      actions += hosts.items[host].waiters.all.map { .refuse($0, .shutDown) }
      hosts.items[host].waiters = RemovableQueue()
      for idle in hosts.items[host].idle {
        actions.append(.close(idle.connection))
        forget(idle.connection)
      }
      prune(host)
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
  private mutating func host(for key: Key) -> Int {
    if let host = hostSlots[key] { return host }
    let fresh = Host(key: key)
    let host = hosts.take(orMake: fresh)
    hosts.items[host] = fresh
    hostSlots[key] = host
    return host
  }

  /// Assigns a free connection to the origin's first waiter, or marks it as idle.
  private mutating func offer(_ connection: ConnectionID, at slot: Int, now: MonotonicInstant) -> [Action] {
    let host = connections.items[slot].host
    if let waiter = popWaiter(of: host) { return [.use(connection, waiter)] }
    var actions: [Action] = []
    connections.items[slot].idleSince = now
    hosts.items[host].idle.append(Idle(connection: connection, slot: slot))
    idleCount += 1
    // Closes the idle connection immediately if another origin waits because of the total limit.
    connectForStarved(&actions)
    wake(&actions)
    return actions
  }

  private mutating func popWaiter(of host: Int) -> WaiterID? {
    guard let waiter = hosts.items[host].waiters.popFirst() else { return nil }
    waiting[waiter] = nil
    return waiter
  }

  /// Ends a connection attempt. Returns the slot of its origin.
  private mutating func endAttempt(for key: Key) -> Int {
    let host = host(for: key)
    connecting -= 1
    hosts.items[host].connecting -= 1
    return host
  }

  /// Starts the connection attempts that have become possible because a connection or connection attempt ended.
  private mutating func connectAgain(for host: Int) -> [Action] {
    var actions: [Action] = []
    connectForStarved(&actions)
    connectIfNeeded(for: host, &actions)
    prune(host)
    return actions + drain()
  }

  /// Starts a connection attempt if the origin has more waiters than connection attempts.
  private mutating func connectIfNeeded(for host: Int, _ actions: inout [Action]) {
    guard needsConnect(host) else { return }
    guard isBelowTotal || makeRoom(&actions) else {
      if !starved.contains(host) { starved.append(host) }
      return
    }
    hosts.items[host].connecting += 1
    connecting += 1
    actions.append(.connect(hosts.items[host].key))
  }

  /// Whether a further waiter need not wait for other calls: a connection attempt without a waiter is under way, or a
  /// connection attempt may start.
  private func hasRoom(for host: Int) -> Bool {
    hosts.items[host].waiters.count < hosts.items[host].connecting
      || isBelowLimit(host) && (isBelowTotal || idleCount > 0)
  }

  /// Returns the number of an origin's connections that count toward the limit per origin.
  private func counted(_ host: Int) -> Int { hosts.items[host].held - hosts.items[host].streaming }

  private func isBelowLimit(_ host: Int) -> Bool { counted(host) < max(1, limits.connectionsPerOrigin) }

  /// Whether an origin has more connections than its limit, because further connections were made while some were
  /// streaming.
  private func hasTooMany(_ host: Int) -> Bool { counted(host) > max(1, limits.connectionsPerOrigin) }

  /// Marks a connection as no longer streaming.
  private mutating func endStream(at slot: Int) {
    guard connections.items[slot].isStreaming else { return }
    connections.items[slot].isStreaming = false
    hosts.items[connections.items[slot].host].streaming -= 1
  }

  private var isBelowTotal: Bool {
    connections.count + connecting < max(1, limits.connections)
  }

  private func needsConnect(_ host: Int) -> Bool {
    !isShutDown && hosts.items[host].waiters.count > hosts.items[host].connecting && isBelowLimit(host)
  }

  /// Starts connection attempts for starved origins in turn, as long as the total limit permits.
  private mutating func connectForStarved(_ actions: inout [Action]) {
    while let host = starved.first {
      guard needsConnect(host) else {
        starved.removeFirst()
        continue
      }
      let before = connecting
      connectIfNeeded(for: host, &actions)
      guard connecting > before else { return }
      // Each origin gets one connection attempt in turn.
      starved.removeFirst()
      if needsConnect(host) { starved.append(host) }
    }
  }

  /// Returns the origin that has starved longest, if a connection to `host` must be closed in its favor.
  private func rival(of host: Int) -> Int? {
    starved.first { other in
      guard other != host, needsConnect(other), let ticket = firstTicket(of: other) else { return false }
      // An earlier waiter of this origin has precedence. Without waiters of this origin, the connection becomes idle
      // and is closed for the other origin anyway.
      guard let own = firstTicket(of: host), ticket < own else { return false }
      return hosts.items[other].held == 0 || hosts.items[other].held + 1 < hosts.items[host].held
    }
  }

  private func firstTicket(of host: Int) -> UInt64? {
    hosts.items[host].waiters.first.flatMap { waiting[$0]?.ticket }
  }

  /// Closes a connection in favor of another origin.
  private mutating func replace(_ connection: ConnectionID, of host: Int, for rival: Int) -> [Action] {
    forget(connection)
    starved.removeAll { $0 == rival }
    var actions: [Action] = []
    connectIfNeeded(for: rival, &actions)
    // Both origins may need a connection attempt; the other origin comes first.
    for host in [rival, host] { connectIfNeeded(for: host, &actions) }
    prune(host)
    return actions
  }

  /// Closes the connection that has been idle longest. Returns whether there was an idle connection.
  private mutating func makeRoom(_ actions: inout [Action]) -> Bool {
    guard idleCount > 0 else { return false }
    var oldest: (connection: ConnectionID, host: Int, since: MonotonicInstant)?
    for (connection, slot) in connectionSlots {
      let record = connections.items[slot]
      guard let since = record.idleSince, oldest.map({ since < $0.since }) ?? true else { continue }
      oldest = (connection, record.host, since)
    }
    guard let (connection, host, _) = oldest else { return false }
    forget(connection)
    prune(host)
    actions.append(.close(connection))
    return true
  }

  /// Closes the origin's connection that has been idle longest if the origin's limit permits no further connection.
  private mutating func makeRoom(for host: Int, _ actions: inout [Action]) {
    guard !isBelowLimit(host), let connection = hosts.items[host].idle.first?.connection else { return }
    forget(connection)
    actions.append(.close(connection))
  }

  /// Removes a connection from all records.
  private mutating func forget(_ connection: ConnectionID) {
    guard let slot = connectionSlots.removeValue(forKey: connection) else { return }
    let host = connections.items[slot].host
    connections.giveBack(slot)
    hosts.items[host].open -= 1
    if connections.items[slot].isStreaming { hosts.items[host].streaming -= 1 }
    guard let index = hosts.items[host].idle.firstIndex(where: { $0.slot == slot }) else { return }
    hosts.items[host].idle.remove(at: index)
    idleCount -= 1
  }

  /// Removes the record of an origin without connections and waiters, so that records do not accumulate.
  private mutating func prune(_ host: Int) {
    guard hosts.items[host].isEmpty, hostSlots[hosts.items[host].key] == host else { return }
    hostSlots[hosts.items[host].key] = nil
    starved.removeAll { $0 == host }
    hosts.giveBack(host)
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
