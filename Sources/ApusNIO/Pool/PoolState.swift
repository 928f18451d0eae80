#if NIO
import ApusCore

/// The limits on a pool's connections.
struct PoolLimits: Sendable, Hashable {
  /// The maximum number of connections to one origin, those being made included; at least 1. Default: 5.
  var connectionsPerOrigin = 5
  /// The maximum number of connections to all origins, those being made included; at least 1. Default: 256.
  var connections = 256
  /// The maximum number of waiters for a connection in use, over all origins. A waiter whose connection is being
  /// made is not counted. Default: no limit.
  var waiting = Int.max
  /// The time after which an idle connection is closed. Default: 60 s; servers commonly close after 60 to 75 s.
  var idleTimeout = Duration.seconds(60)
  /// The age beyond which a connection is closed instead of reused; `nil` for no limit.
  var maximumAge: Duration?
}

/// The connections of a transport, their users and their waiters. A pure state machine: events return the actions to
/// perform. It knows no channels, clocks or locks.
///
/// - The most recently used connection is reused first, so that the others become idle long enough to be closed.
/// - A waiter gets the first connection that becomes free, whichever waiter it was made for.
/// - A connection is made only for a waiter, within both limits. If only the total limit is reached, the connection
///   of any origin that has been idle longest is closed to make room.
/// - If all connections are in use and another origin's waiter came before all of this origin's, a freed connection
///   is closed in favor of that origin, provided that it has no connection or at least two fewer. So a busy origin
///   starves no other, and connections do not oscillate between origins.
/// - A connection that streams content counts only toward the total, because a stream may last indefinitely. When
///   the stream ends, the connection is closed if its origin has too many by then.
/// - A failed dial fails the first waiter, unless the dials under way suffice for all; then it is repeated for the
///   waiters that are left.
struct PoolState<Key: Hashable & Sendable, ConnectionID: Hashable & Sendable, WaiterID: Hashable & Sendable>: Sendable {
  /// The actions to perform, in this order.
  enum Action: Sendable, Equatable {
    /// Start the waiter's exchange on the connection.
    case use(ConnectionID, WaiterID)
    /// Make a connection, then report ``PoolState/dialed(_:for:now:)``, ``PoolState/dialFailed(for:now:)`` or
    /// ``PoolState/dialGivenUp(for:)``.
    case dial(Key)
    /// Fail the waiter.
    case refuse(WaiterID, Refusal)
    /// Close the connection, which the pool has forgotten already.
    case close(ConnectionID)
    /// Call ``PoolState/tick(now:)`` at this instant. At most one wake-up is pending.
    case wake(MonotonicInstant)
    /// Report that the pool is shut down and empty.
    case drained
  }

  /// The reason why a waiter gets no connection.
  enum Refusal: Sendable, Hashable {
    /// The dial failed with the error just reported.
    case dialFailed
    /// Too many waiters already.
    case queueFull
    /// The pool is shut down.
    case shutDown
  }

  private struct Connection: Sendable {
    let key: Key
    let openedAt: MonotonicInstant
    /// The start of the idle time; `nil` while the connection is in use.
    var idleSince: MonotonicInstant?
    /// Whether the connection carries content that is read as it arrives.
    var isStreaming = false
  }

  private struct Position: Sendable {
    let key: Key
    /// The order of arrival over all origins.
    let ticket: UInt64
  }

  private struct Host: Sendable {
    /// The idle connections, the most recently used at the end.
    var idle: [ConnectionID] = []
    var waiters = WaiterQueue<WaiterID>()
    var open = 0
    var dialing = 0
    /// The open connections that carry streamed content.
    var streaming = 0
    /// The connections that are open or being made.
    var held: Int { open + dialing }
    var isEmpty: Bool { held == 0 && waiters.isEmpty }
  }

  let limits: PoolLimits
  private var hosts: [Key: Host] = [:]
  private var connections: [ConnectionID: Connection] = [:]
  /// The origin and the order of arrival of each waiter.
  private var waiting: [WaiterID: Position] = [:]
  private var nextTicket: UInt64 = 0
  /// The origins whose waiters have no dial under way because of the total limit, longest first.
  private var starved: [Key] = []
  private var dialing = 0
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
    var dialing = 0
    var waiting = 0
  }

  /// The numbers of connections and waiters, over all origins.
  var counts: Counts {
    Counts(active: connections.count - idleCount, idle: idleCount, dialing: dialing, waiting: waiting.count)
  }

  /// All open connections, in any order.
  var openConnections: [ConnectionID] { Array(connections.keys) }

  /// Whether the pool has no connection, waiter or dial, and remembers no origin.
  var isEmpty: Bool { hosts.isEmpty && connections.isEmpty && waiting.isEmpty && dialing == 0 }

  /// Whether the pool remembers anything about an origin.
  func knows(origin key: Key) -> Bool { hosts[key] != nil }

  /// Whether a connection belongs to the pool.
  func knows(_ connection: ConnectionID) -> Bool { connections[connection] != nil }

  /// Whether an origin's waiters have no dial under way because of the total limit.
  var hasStarvedOrigins: Bool { !starved.isEmpty }

  /// Whether an origin's dials suffice for all of its waiters, so that the last waiter need not wait for other
  /// calls.
  func isDialing(forLastOf key: Key) -> Bool {
    hosts[key].map { $0.waiters.count <= $0.dialing } ?? false
  }

  /// Whether dials are under way although the origin has no waiter.
  func hasUnwantedDials(to key: Key) -> Bool {
    hosts[key].map { $0.dialing > 0 && $0.waiters.isEmpty } ?? false
  }

  // MARK: Events: waiters

  /// Gives a waiter an idle connection, starts a dial for it, or queues it.
  ///
  /// - Parameter isAdmitted: whether the waiter had a connection before; then it is never refused for a full queue.
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

  /// Starts a dial for a waiter, or queues the waiter. Idle connections are not used, because they have carried
  /// exchanges before.
  ///
  /// - Parameter isAdmitted: as for ``acquire(_:for:isAdmitted:now:)``.
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
    waiting[waiter] = Position(key: key, ticket: nextTicket)
    nextTicket += 1
    hosts[key, default: Host()].waiters.append(waiter)
    dialIfNeeded(for: key, &actions)
  }

  /// Removes a waiter. A dial under way for it remains, for others.
  mutating func cancelled(_ waiter: WaiterID) -> [Action] {
    guard let key = waiting.removeValue(forKey: waiter)?.key else { return [] }
    _ = hosts[key]?.waiters.remove(waiter)
    if hosts[key]?.waiters.isEmpty == true { starved.removeAll { $0 == key } }
    prune(key)
    return []
  }

  // MARK: Events: dials

  /// Adds a new connection.
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

  /// Ends a dial that failed.
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

  /// Ends a dial that was given up because no waiter needed it (``hasUnwantedDials(to:)``). If there are waiters by
  /// now, another dial is started for them.
  mutating func dialGivenUp(for key: Key) -> [Action] {
    endDial(for: key)
    var actions: [Action] = []
    dialForStarved(&actions)
    dialIfNeeded(for: key, &actions)
    prune(key)
    return actions + drain()
  }

  // MARK: Events: connections

  /// Ends the use of a connection.
  ///
  /// - Parameter canReuse: `false` if the connection may not carry another exchange.
  mutating func released(_ connection: ConnectionID, canReuse: Bool, now: MonotonicInstant) -> [Action] {
    guard let record = connections[connection], record.idleSince == nil else { return [] }
    endStream(on: connection)
    guard canReuse, !isShutDown, !isAged(record, now: now), !isTooMany(record.key) else {
      return [.close(connection)] + closed(connection, now: now)
    }
    if let rival = rival(of: record.key) { return [.close(connection)] + replace(connection, for: rival) }
    return offer(connection, of: record.key, now: now)
  }

  /// Marks a connection as streaming, so that its origin may have another one.
  mutating func streamingStarted(on connection: ConnectionID) -> [Action] {
    guard let record = connections[connection], record.idleSince == nil, !record.isStreaming else { return [] }
    connections[connection]?.isStreaming = true
    hosts[record.key]?.streaming += 1
    var actions: [Action] = []
    dialIfNeeded(for: record.key, &actions)
    return actions
  }

  /// Removes a connection that was closed by either side. Does nothing for an unknown connection.
  mutating func closed(_ connection: ConnectionID, now: MonotonicInstant) -> [Action] {
    guard let key = connections[connection]?.key else { return [] }
    forget(connection)
    var actions: [Action] = []
    dialForStarved(&actions)
    dialIfNeeded(for: key, &actions)
    prune(key)
    return actions + drain()
  }

  /// Closes connections that are idle for too long or too old, at the instant of ``Action/wake(_:)``.
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

  /// Refuses all waiters from now on. Exchanges under way may end; ``Action/drained`` follows the last.
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

// MARK: - Steps

extension PoolState {
  /// Gives a free connection to the origin's first waiter, or keeps it as idle.
  private mutating func offer(_ connection: ConnectionID, of key: Key, now: MonotonicInstant) -> [Action] {
    if let waiter = popWaiter(of: key) { return [.use(connection, waiter)] }
    var actions: [Action] = []
    connections[connection]?.idleSince = now
    hosts[key, default: Host()].idle.append(connection)
    idleCount += 1
    // The connection is closed immediately if another origin waits for the total limit.
    dialForStarved(&actions)
    wake(&actions)
    return actions
  }

  private mutating func popIdle(of key: Key) -> ConnectionID? {
    guard let connection = hosts[key]?.idle.popLast() else { return nil }
    idleCount -= 1
    return connection
  }

  private mutating func popWaiter(of key: Key) -> WaiterID? {
    guard let waiter = hosts[key]?.waiters.popFirst() else { return nil }
    waiting[waiter] = nil
    return waiter
  }

  private mutating func endDial(for key: Key) {
    dialing -= 1
    hosts[key]?.dialing -= 1
  }

  /// Starts a dial if the origin has more waiters than dials.
  private mutating func dialIfNeeded(for key: Key, _ actions: inout [Action]) {
    guard needsDial(key) else { return }
    guard isBelowTotal || makeRoom(&actions) else {
      if !starved.contains(key) { starved.append(key) }
      return
    }
    hosts[key]?.dialing += 1
    dialing += 1
    actions.append(.dial(key))
  }

  /// Whether one more waiter need not wait for other calls: a dial without a waiter is under way, or a dial may
  /// start.
  private func hasRoom(for key: Key) -> Bool {
    let host = hosts[key] ?? Host()
    return host.waiters.count < host.dialing || isBelowLimit(host) && (isBelowTotal || idleCount > 0)
  }

  private func isBelowLimit(_ host: Host) -> Bool {
    host.held - host.streaming < max(1, limits.connectionsPerOrigin)
  }

  /// Whether an origin has more connections than its limit, because others were made while some were streaming.
  private func isTooMany(_ key: Key) -> Bool {
    hosts[key].map { $0.held - $0.streaming > max(1, limits.connectionsPerOrigin) } ?? false
  }

  /// Marks a connection as no longer streaming.
  private mutating func endStream(on connection: ConnectionID) {
    guard let record = connections[connection], record.isStreaming else { return }
    connections[connection]?.isStreaming = false
    hosts[record.key]?.streaming -= 1
  }

  private var isBelowTotal: Bool {
    connections.count + dialing < max(1, limits.connections)
  }

  private func needsDial(_ key: Key) -> Bool {
    guard !isShutDown, let host = hosts[key] else { return false }
    return host.waiters.count > host.dialing && isBelowLimit(host)
  }

  /// Dials for starved origins in turn, as long as the total limit permits.
  private mutating func dialForStarved(_ actions: inout [Action]) {
    while let key = starved.first {
      guard needsDial(key) else {
        starved.removeFirst()
        continue
      }
      let before = dialing
      dialIfNeeded(for: key, &actions)
      guard dialing > before else { return }
      // One dial for each origin in turn.
      starved.removeFirst()
      if needsDial(key) { starved.append(key) }
    }
  }

  /// Returns the origin that has starved longest, if it is to take the place of a connection to `key`.
  private func rival(of key: Key) -> Key? {
    starved.first { other in
      guard other != key, needsDial(other), let host = hosts[other], let ticket = firstTicket(of: other) else {
        return false
      }
      // If this origin's first waiter came earlier it is served first. If it has none, the connection becomes idle
      // and is closed for the other origin.
      guard let own = firstTicket(of: key), ticket < own else { return false }
      return host.held == 0 || host.held + 1 < (hosts[key]?.held ?? 0)
    }
  }

  private func firstTicket(of key: Key) -> UInt64? {
    hosts[key]?.waiters.first.flatMap { waiting[$0]?.ticket }
  }

  /// Closes a connection in favor of another origin.
  private mutating func replace(_ connection: ConnectionID, for rival: Key) -> [Action] {
    guard let key = connections[connection]?.key else { return [] }
    forget(connection)
    starved.removeAll { $0 == rival }
    var actions: [Action] = []
    dialIfNeeded(for: rival, &actions)
    // Both origins may need a dial; the other origin comes first.
    for key in [rival, key] { dialIfNeeded(for: key, &actions) }
    prune(key)
    return actions
  }

  /// Closes the connection that has been idle longest. Returns whether there was an idle connection.
  private mutating func makeRoom(_ actions: inout [Action]) -> Bool {
    guard idleCount > 0 else { return false }
    var oldest: (connection: ConnectionID, since: MonotonicInstant)?
    for (connection, record) in connections {
      guard let since = record.idleSince, oldest.map({ since < $0.since }) ?? true else { continue }
      oldest = (connection, since)
    }
    guard let connection = oldest?.connection, let key = connections[connection]?.key else { return false }
    forget(connection)
    prune(key)
    actions.append(.close(connection))
    return true
  }

  /// Closes the origin's connection that has been idle longest if the origin's limit permits no other.
  private mutating func makeRoom(for key: Key, _ actions: inout [Action]) {
    guard let host = hosts[key], !isBelowLimit(host), let connection = host.idle.first else { return }
    forget(connection)
    actions.append(.close(connection))
  }

  /// Removes a connection from all records.
  private mutating func forget(_ connection: ConnectionID) {
    guard let record = connections.removeValue(forKey: connection) else { return }
    hosts[record.key]?.open -= 1
    if record.isStreaming { hosts[record.key]?.streaming -= 1 }
    guard record.idleSince != nil, let index = hosts[record.key]?.idle.firstIndex(of: connection) else { return }
    hosts[record.key]?.idle.remove(at: index)
    idleCount -= 1
  }

  /// Forgets an origin without connections and waiters, so that origins do not accumulate.
  private mutating func prune(_ key: Key) {
    if hosts[key]?.isEmpty == true { hosts[key] = nil }
  }

  private func isUsable(_ connection: ConnectionID, now: MonotonicInstant) -> Bool {
    guard let record = connections[connection], let since = record.idleSince else { return false }
    return since.duration(to: now) < limits.idleTimeout && !isAged(record, now: now)
  }

  private func isAged(_ record: Connection, now: MonotonicInstant) -> Bool {
    limits.maximumAge.map { record.openedAt.duration(to: now) >= $0 } ?? false
  }

  /// Asks for a wake-up when the first idle connection expires, unless one is pending.
  private mutating func wake(_ actions: inout [Action]) {
    guard !isWakePending, idleCount > 0, !isShutDown else { return }
    var first: MonotonicInstant?
    for record in connections.values {
      guard let since = record.idleSince else { continue }
      var due = since.advanced(by: limits.idleTimeout)
      if let age = limits.maximumAge { due = min(due, record.openedAt.advanced(by: age)) }
      first = min(first ?? due, due)
    }
    guard let first else { return }
    isWakePending = true
    actions.append(.wake(first))
  }
}
#endif
