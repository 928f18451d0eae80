import ApusCore

/// The connections of a transport, their exchanges and their waiters. A pure state machine without channels, clocks or
/// locks: events return the actions to perform.
///
/// - A connection carries up to `capacity` exchanges at a time: 1 over HTTP/1.1, the server's limit over HTTP/2. It is
///   *free* while it may take another exchange, and *idle* while it carries none.
/// - The connection that became free last is used first, until it is full, so that surplus connections become idle long
///   enough to be closed.
/// - A waiter gets the first connection that becomes free, even if it was made for another waiter.
/// - A connection is made only for waiters, within both limits, and only if the connections being made are not expected
///   to have capacity for all waiters of their origin. If only the total limit is reached, the connection that has been
///   idle longest, of any origin, is closed to make room.
/// - While the total limit is reached, a connection that becomes idle may be closed in favor of another origin. That
///   origin must have a waiter that arrived before all waiters of this origin, and no connection or at least two fewer
///   than this origin. So a busy origin does not starve other origins, and connections do not oscillate between
///   origins.
/// - A suspended connection takes no exchange and counts only toward the total limit: an HTTP/1.1 connection that
///   streams content, because a stream may last indefinitely, or an HTTP/2 connection with too much unread content or
///   after GOAWAY. If its origin has too many connections when the suspension ends, the connection is retired.
/// - A retired connection takes no exchange, counts only toward the total limit, and is closed after its last exchange.
///   A connection is retired when it may not be reused or has reached the maximum age.
/// - A failed connection attempt fails the waiters that it was made for, unless the attempts under way suffice for them.
///   New attempts are then started for the remaining waiters.
struct PoolState<Key: Hashable & Sendable, ConnectionID: Hashable & Sendable, WaiterID: Hashable & Sendable>: Sendable {
  /// The actions to perform, in this order.
  enum Action: Sendable, Equatable {
    /// Start the waiter's exchange on the connection.
    case use(ConnectionID, WaiterID)
    /// Make a connection, then report ``PoolState/connected(_:for:capacity:now:)``,
    /// ``PoolState/connectFailed(for:now:)`` or ``PoolState/connectGivenUp(for:)``.
    case connect(Key)
    /// Fail the waiter.
    case refuse(WaiterID, Refusal)
    /// Close the connection, which the pool has already removed.
    case close(ConnectionID)
    /// Call ``PoolState/tick(now:)`` at this instant. While a wake-up is pending, only an earlier wake-up is requested.
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

  private struct Position: Sendable {
    /// The slot of its origin in ``origins``.
    let origin: Int
    /// The order of arrival over all origins.
    let ticket: UInt64
  }

  let limits: PoolLimits
  // `Slots` is used instead of a dictionary, because each change of a large value in a dictionary allocates memory.
  private var origins = Slots<OriginRecord<Key, ConnectionID, WaiterID>>()
  private var originSlots: [Key: Int] = [:]
  private var connections = Slots<ConnectionRecord>()
  private var connectionSlots: [ConnectionID: Int] = [:]
  /// The origin and the order of arrival of each waiter.
  private var waiting: [WaiterID: Position] = [:]
  private var nextTicket: UInt64 = 0
  private let assumedCapacity: @Sendable (Key) -> Int
  private var memory = ProtocolMemory<Key>()
  /// The origins to which no connection may be made until an instant.
  private var calm: [Key: MonotonicInstant] = [:]
  /// The pending wake-ups, the earliest at the end. A wake-up cannot be withdrawn, so a calm that ends before the
  /// pending wake-up gets an additional, earlier wake-up.
  private var wakeUps: [MonotonicInstant] = []
  /// The slots of the origins whose waiters have no connection attempt under way because of the total limit, in order
  /// of arrival.
  private var starved: [Int] = []
  private var connecting = 0
  private var idleCount = 0
  private var isShutDown = false
  private var isDrained = false

  /// Creates an empty pool.
  ///
  /// - Parameter assumedCapacity: returns the number of exchanges that a connection is expected to carry at a time to
  ///   an origin without earlier connections: 1 if only HTTP/1.1 is possible, `Int.max` if the protocol is known only
  ///   once a connection is made, so that a single connection is made first. Default: 1.
  init(limits: PoolLimits = PoolLimits(), assumedCapacity: @escaping @Sendable (Key) -> Int = { _ in 1 }) {
    self.limits = limits
    self.assumedCapacity = assumedCapacity
  }

  // MARK: Queries

  /// The numbers of connections and waiters.
  struct Counts: Sendable, Equatable {
    /// The connections that carry at least one exchange.
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
    return origins.items[origin].hasEnoughAttempts
  }

  /// Whether connection attempts are under way although the origin has no waiter.
  func hasUnneededAttempts(to key: Key) -> Bool {
    guard let origin = originSlots[key] else { return false }
    return !origins.items[origin].attempts.isEmpty && origins.items[origin].waiters.isEmpty
  }

  /// Whether connections to an origin may use a protocol other than HTTP/1.1 (``restrictToHTTP1(_:until:retiring:)``).
  func allowsMultiplexing(_ key: Key, now: MonotonicInstant) -> Bool { memory.allowsMultiplexing(key, now: now) }

  // MARK: Events: waiters

  /// Assigns a free connection to a waiter, starts a connection attempt for it, or queues it.
  ///
  /// - Parameter isAdmitted: whether the waiter had a connection before; such a waiter is not refused when the queue is
  ///   full.
  mutating func acquire(
    _ waiter: WaiterID, for key: Key, isAdmitted: Bool = false, now: MonotonicInstant
  ) -> [Action] {
    guard !isShutDown else { return [.refuse(waiter, .shutDown)] }
    guard waiting.isEmpty || waiting[waiter] == nil else { return [] }
    let origin = originSlot(for: key, now: now)
    var actions: [Action] = []
    while let free = origins.items[origin].free.last {
      if connections.items[free.slot].isUsable(within: limits, now: now) {
        addUse(at: free.slot)
        list(free.connection, at: free.slot)
        actions.append(.use(free.connection, waiter))
        return actions
      }
      if connections.items[free.slot].uses > 0 {
        move(free.slot, to: .retired)
      } else {
        forget(free.connection)
        actions.append(.close(free.connection))
      }
    }
    enqueue(waiter, for: origin, isAdmitted: isAdmitted, &actions)
    return actions
  }

  /// Starts a connection attempt for a waiter, or queues the waiter. Free connections are not used at first, because
  /// they have carried exchanges before. At the limit per origin, the connection that has been idle longest is closed;
  /// if no connection is idle, the waiter gets the first connection that becomes free.
  ///
  /// - Parameter isAdmitted: see ``acquire(_:for:isAdmitted:now:)``.
  mutating func acquireNew(
    _ waiter: WaiterID, for key: Key, isAdmitted: Bool = false, now: MonotonicInstant
  ) -> [Action] {
    guard !isShutDown else { return [.refuse(waiter, .shutDown)] }
    guard waiting[waiter] == nil else { return [] }
    let origin = originSlot(for: key, now: now)
    var actions: [Action] = []
    if !isBelowLimit(origin) {
      _ = closeIdle(&actions) { $0.origin == origin && $0.standing == .serving }
    }
    let before = connecting
    enqueue(waiter, for: origin, isAdmitted: isAdmitted, &actions)
    // Waiters that arrived earlier may fill the shared connections that are being made. So while the origin has free
    // connections, which this waiter does not use, one attempt more than needed is made.
    let record = origins.items[origin]
    if connecting == before, waiting[waiter] != nil, record.expected > 1, !record.free.isEmpty,
      record.waiters.count > record.room(of: record.attempts.count - 1), mayConnect(to: origin)
    {
      _ = connectOnce(for: origin, &actions)
    }
    return actions
  }

  private mutating func enqueue(
    _ waiter: WaiterID, for origin: Int, isAdmitted: Bool, _ actions: inout [Action]
  ) {
    guard isAdmitted || waiting.count < limits.waiting || hasRoom(for: origin) || unserved < limits.waiting else {
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

  /// Adds a new connection and assigns it to up to `capacity` waiters.
  ///
  /// - Parameter capacity: the maximum number of exchanges at a time; 1 over HTTP/1.1.
  mutating func connected(
    _ connection: ConnectionID, for key: Key, capacity: Int, now: MonotonicInstant
  ) -> [Action] {
    guard let (origin, _) = endAttempt(for: key) else { return [.close(connection)] }
    guard !isShutDown else {
      prune(origin)
      return [.close(connection)] + drain()
    }
    origins.items[origin].open += 1
    let record = ConnectionRecord(origin: origin, capacity: max(0, capacity), openedAt: now)
    let slot = connections.take(orMake: record)
    connections.items[slot] = record
    connectionSlots[connection] = slot
    idleCount += 1
    origins.items[origin].isRestricted = !memory.allowsMultiplexing(key, now: now)
    learn(capacity, of: origin)
    return offerAndConnect(connection, at: slot)
  }

  /// Ends a connection attempt that failed. Fails the waiters that were queued before the attempt started, at most the
  /// expected capacity of the connection, and none that the remaining attempts suffice for.
  mutating func connectFailed(for key: Key, now: MonotonicInstant) -> [Action] {
    guard let (origin, ticket) = endAttempt(for: key) else { return [] }
    var actions: [Action] = []
    let expected = origins.items[origin].expected
    while actions.count < expected, !origins.items[origin].hasEnoughAttempts, let first = firstTicket(of: origin),
      // If connections are not shared, each failed attempt fails a waiter, because the waiter that the attempt was made
      // for may have got a connection in exchange.
      first < ticket || expected == 1, let waiter = popWaiter(of: origin)
    {
      actions.append(.refuse(waiter, .connectFailed))
    }
    return actions + connectAgain(for: origin)
  }

  /// Ends a connection attempt that was given up because no waiter needed it (``hasUnneededAttempts(to:)``). Starts
  /// another connection attempt if waiters have arrived since.
  mutating func connectGivenUp(for key: Key) -> [Action] {
    guard let (origin, _) = endAttempt(for: key) else { return [] }
    return connectAgain(for: origin)
  }

  // MARK: Events: knowledge of origins

  /// Starts no connection attempt to an origin until an instant, for example after ENHANCE_YOUR_CALM (RFC 9113 §7).
  /// Attempts under way continue. Never shortens an earlier pause.
  mutating func calm(_ key: Key, until instant: MonotonicInstant) -> [Action] {
    guard !isShutDown else { return [] }
    calm[key] = max(calm[key] ?? instant, instant)
    var actions: [Action] = []
    wake(&actions)
    return actions
  }

  /// Restricts an origin to HTTP/1.1 until an instant, for example after HTTP_1_1_REQUIRED (RFC 9113 §7). Never shortens
  /// an earlier restriction. Connections that use another protocol are retired.
  mutating func restrictToHTTP1(
    _ key: Key, until instant: MonotonicInstant, retiring isRetired: (ConnectionID) -> Bool
  ) -> [Action] {
    memory.restrictToHTTP1(key, until: instant)
    guard let origin = originSlots[key] else { return [] }
    origins.items[origin].isRestricted = true
    var actions: [Action] = []
    for (connection, slot) in connectionSlots where connections.items[slot].origin == origin && isRetired(connection) {
      move(slot, to: .retired)
      guard connections.items[slot].uses == 0 else { continue }
      forget(connection)
      actions.append(.close(connection))
    }
    return actions + connectAgain(for: origin)
  }

  // MARK: Events: connections

  /// Ends one use of a connection.
  ///
  /// - Parameters:
  ///   - canReuse: `false` if the connection may not carry another exchange.
  ///   - isSuspended: whether the connection is suspended from now on. Default: `false`, which ends a suspension.
  mutating func released(
    _ connection: ConnectionID, canReuse: Bool, isSuspended: Bool = false, now: MonotonicInstant
  ) -> [Action] {
    guard let slot = connectionSlots[connection], connections.items[slot].uses > 0 else { return [] }
    let origin = connections.items[slot].origin
    connections.items[slot].uses -= 1
    move(slot, to: isSuspended ? .suspended : .serving)
    if !canReuse || connections.items[slot].isAged(within: limits, now: now) || hasTooMany(origin) {
      move(slot, to: .retired)
    }
    if connections.items[slot].uses == 0 {
      guard !isShutDown, connections.items[slot].standing != .retired else {
        return [.close(connection)] + closed(connection, now: now)
      }
      if !starved.isEmpty, let rival = rival(of: origin) {
        return [.close(connection)] + replace(connection, of: origin, for: rival)
      }
      connections.items[slot].idleSince = now
      idleCount += 1
    }
    // Only a connection that takes no more exchanges makes room for another connection of its origin.
    let isServing = connections.items[slot].standing == .serving
    return isServing ? offer(connection, at: slot) : offerAndConnect(connection, at: slot)
  }

  /// Changes the maximum number of exchanges of a connection. Exchanges beyond it continue. A connection without
  /// capacity still counts toward the limit per origin, so that connections are not made in vain.
  mutating func capacityChanged(_ connection: ConnectionID, to capacity: Int) -> [Action] {
    guard let slot = connectionSlots[connection] else { return [] }
    connections.items[slot].capacity = max(0, capacity)
    learn(capacity, of: connections.items[slot].origin)
    return offerAndConnect(connection, at: slot)
  }

  /// Suspends a connection until ``resumed(_:)`` or the end of a use, so that its origin may have another connection.
  mutating func suspended(_ connection: ConnectionID) -> [Action] {
    guard let slot = connectionSlots[connection], connections.items[slot].standing == .serving else { return [] }
    move(slot, to: .suspended)
    var actions: [Action] = []
    connectIfNeeded(for: connections.items[slot].origin, &actions)
    return actions
  }

  /// Ends the suspension of a connection.
  mutating func resumed(_ connection: ConnectionID) -> [Action] {
    guard let slot = connectionSlots[connection], connections.items[slot].standing == .suspended else { return [] }
    let origin = connections.items[slot].origin
    move(slot, to: .serving)
    if hasTooMany(origin) {
      move(slot, to: .retired)
      guard connections.items[slot].uses > 0 else {
        forget(connection)
        return [.close(connection)] + connectAgain(for: origin)
      }
    }
    return offer(connection, at: slot)
  }

  /// Removes a connection that was closed by either side. Does nothing for an unknown connection.
  mutating func closed(_ connection: ConnectionID, now: MonotonicInstant) -> [Action] {
    guard let slot = connectionSlots[connection] else { return [] }
    let origin = connections.items[slot].origin
    forget(connection)
    return connectAgain(for: origin)
  }

  /// Closes connections that are idle for too long or too old, and connects to origins whose pause
  /// (``calm(_:until:)``) has ended, at the instant of ``Action/wake(_:)``.
  mutating func tick(now: MonotonicInstant) -> [Action] {
    _ = wakeUps.popLast()
    var actions: [Action] = []
    var ready: [Int] = []
    for (connection, slot) in connectionSlots {
      let record = connections.items[slot]
      guard record.idleSince != nil, !record.isUsable(within: limits, now: now) else { continue }
      forget(connection)
      ready.append(record.origin)
      actions.append(.close(connection))
    }
    for (key, end) in calm where end <= now {
      calm[key] = nil
      if let origin = originSlots[key] { ready.append(origin) }
    }
    connectForStarved(&actions)
    for origin in ready {
      connectIfNeeded(for: origin, &actions)
      prune(origin)
    }
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
    }
    waiting = [:]
    starved = []
    for (connection, slot) in connectionSlots where connections.items[slot].idleSince != nil {
      actions.append(.close(connection))
      forget(connection)
    }
    for origin in originSlots.values { prune(origin) }
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
  private mutating func originSlot(for key: Key, now: MonotonicInstant) -> Int {
    if let origin = originSlots[key] { return origin }
    let fresh = OriginRecord<Key, ConnectionID, WaiterID>(
      key: key, capacity: memory.capacity(of: key) ?? max(1, assumedCapacity(key)),
      isRestricted: !memory.allowsMultiplexing(key, now: now))
    let origin = origins.take(orMake: fresh)
    origins.items[origin] = fresh
    originSlots[key] = origin
    return origin
  }

  /// Records the capacity that a connection to an origin reported. A connection that may carry no exchange at present
  /// says nothing about other connections.
  private mutating func learn(_ capacity: Int, of origin: Int) {
    guard capacity > 0 else { return }
    memory.record(capacity, of: origins.items[origin].key)
    origins.items[origin].capacity = capacity
  }

  /// Assigns a connection to the origin's first waiters, as far as it is free.
  private mutating func offer(_ connection: ConnectionID, at slot: Int) -> [Action] {
    let origin = connections.items[slot].origin
    var actions: [Action] = []
    while connections.items[slot].isFree, let waiter = popWaiter(of: origin) {
      addUse(at: slot)
      actions.append(.use(connection, waiter))
    }
    list(connection, at: slot)
    guard connections.items[slot].uses == 0 else { return actions }
    // Closes the idle connection immediately if another origin waits because of the total limit.
    connectForStarved(&actions)
    wake(&actions)
    return actions
  }

  /// Assigns a connection to the origin's first waiters, and starts the connection attempts that the other waiters need.
  private mutating func offerAndConnect(_ connection: ConnectionID, at slot: Int) -> [Action] {
    var actions = offer(connection, at: slot)
    connectIfNeeded(for: connections.items[slot].origin, &actions)
    return actions
  }

  private mutating func addUse(at slot: Int) {
    connections.items[slot].uses += 1
    guard connections.items[slot].idleSince != nil else { return }
    connections.items[slot].idleSince = nil
    idleCount -= 1
  }

  /// Adds a connection to the list of its origin's free connections, or removes it, if it became free or not free.
  private mutating func list(_ connection: ConnectionID, at slot: Int) {
    let record = connections.items[slot]
    guard record.isFree != record.isListed else { return }
    guard record.isFree else { return unlist(slot) }
    connections.items[slot].isListed = true
    origins.items[record.origin].free.append(.init(connection: connection, slot: slot))
  }

  private mutating func unlist(_ slot: Int) {
    guard connections.items[slot].isListed else { return }
    connections.items[slot].isListed = false
    let origin = connections.items[slot].origin
    guard let index = origins.items[origin].free.lastIndex(where: { $0.slot == slot }) else { return }
    origins.items[origin].free.remove(at: index)
  }

  /// Changes whether a connection takes exchanges. A retired connection stays retired.
  private mutating func move(_ slot: Int, to standing: ConnectionRecord.Standing) {
    let old = connections.items[slot].standing
    guard old != standing, old != .retired else { return }
    connections.items[slot].standing = standing
    if old == .serving {
      origins.items[connections.items[slot].origin].withheld += 1
      unlist(slot)
    } else if standing == .serving {
      origins.items[connections.items[slot].origin].withheld -= 1
    }
  }

  private mutating func popWaiter(of origin: Int) -> WaiterID? {
    guard let waiter = origins.items[origin].waiters.popFirst() else { return nil }
    waiting[waiter] = nil
    return waiter
  }

  /// Ends the origin's earliest connection attempt. Returns the origin's slot and the attempt's entry in
  /// ``OriginRecord/attempts``.
  private mutating func endAttempt(for key: Key) -> (origin: Int, ticket: UInt64)? {
    guard let origin = originSlots[key], !origins.items[origin].attempts.isEmpty else { return nil }
    connecting -= 1
    return (origin, origins.items[origin].attempts.removeFirst())
  }

  /// Starts the connection attempts that have become possible because a connection or connection attempt ended.
  private mutating func connectAgain(for origin: Int) -> [Action] {
    var actions: [Action] = []
    connectForStarved(&actions)
    connectIfNeeded(for: origin, &actions)
    prune(origin)
    return actions + drain()
  }

  /// Starts the connection attempts that the origin's waiters need, as far as the limits permit.
  private mutating func connectIfNeeded(for origin: Int, _ actions: inout [Action]) {
    while needsConnect(origin) {
      guard connectOnce(for: origin, &actions) else {
        if !starved.contains(origin) { starved.append(origin) }
        return
      }
    }
  }

  /// Starts a connection attempt. Returns `false` if the total limit is reached and no connection can be closed.
  private mutating func connectOnce(for origin: Int, _ actions: inout [Action]) -> Bool {
    var other: Int?
    if !isBelowTotal {
      // A connection without capacity is not closed in favor of its own origin, because a new connection is likely to
      // have no capacity either.
      other = closeIdle(&actions) { $0.origin != origin || $0.capacity > 0 }
      guard other != nil else { return false }
    }
    origins.items[origin].attempts.append(nextTicket)
    connecting += 1
    actions.append(.connect(origins.items[origin].key))
    guard let other, other != origin else { return true }
    // If the idle connection could take no exchange, its origin may have waiters.
    connectIfNeeded(for: other, &actions)
    prune(other)
    return true
  }

  /// Whether a further waiter need not wait for other calls: the connection attempts under way suffice for it, or a
  /// connection attempt may start.
  private func hasRoom(for origin: Int) -> Bool {
    origins.items[origin].waiters.count < origins.items[origin].room(of: origins.items[origin].attempts.count)
      || mayConnect(to: origin) && (isBelowTotal || idleCount > 0)
  }

  /// The number of waiters, over all origins, for which no connection is being made.
  private var unserved: Int {
    originSlots.values.reduce(0) { $0 + origins.items[$1].unserved }
  }

  private func isBelowLimit(_ origin: Int) -> Bool {
    origins.items[origin].counted < max(1, limits.connectionsPerOrigin)
  }

  /// Whether an origin has more connections than its limit, because further connections were made while some were
  /// suspended.
  private func hasTooMany(_ origin: Int) -> Bool {
    origins.items[origin].counted > max(1, limits.connectionsPerOrigin)
  }

  private var isBelowTotal: Bool {
    connections.count + connecting < max(1, limits.connections)
  }

  /// Whether the limit per origin and the origin's pause permit a connection attempt.
  private func mayConnect(to origin: Int) -> Bool {
    !isShutDown && isBelowLimit(origin) && (calm.isEmpty || calm[origins.items[origin].key] == nil)
  }

  private func needsConnect(_ origin: Int) -> Bool {
    !origins.items[origin].hasEnoughAttempts && mayConnect(to: origin)
  }

  /// Starts connection attempts for starved origins in turn, as long as the total limit permits.
  private mutating func connectForStarved(_ actions: inout [Action]) {
    var index = 0
    while index < starved.count, isBelowTotal || idleCount > 0 {
      let origin = starved[index]
      guard needsConnect(origin) else {
        starved.remove(at: index)
        continue
      }
      guard connectOnce(for: origin, &actions) else {
        index += 1
        continue
      }
      // Each origin gets one connection attempt in turn.
      starved.removeAll { $0 == origin }
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
    // Both origins may need connection attempts; the other origin comes first.
    for next in [rival, origin] { connectIfNeeded(for: next, &actions) }
    prune(origin)
    return actions
  }

  /// Closes the connection that has been idle longest among those that satisfy a condition. Returns the slot of
  /// its origin; `nil` if there is no such connection.
  private mutating func closeIdle(_ actions: inout [Action], where isCandidate: (ConnectionRecord) -> Bool) -> Int? {
    guard idleCount > 0 else { return nil }
    var oldest: (connection: ConnectionID, origin: Int, since: MonotonicInstant)?
    for (connection, slot) in connectionSlots {
      let record = connections.items[slot]
      guard let since = record.idleSince, oldest.map({ since < $0.since }) ?? true, isCandidate(record) else {
        continue
      }
      oldest = (connection, record.origin, since)
    }
    guard let (connection, origin, _) = oldest else { return nil }
    forget(connection)
    actions.append(.close(connection))
    return origin
  }

  /// Removes a connection from all records.
  private mutating func forget(_ connection: ConnectionID) {
    guard let slot = connectionSlots.removeValue(forKey: connection) else { return }
    unlist(slot)
    let record = connections.items[slot]
    connections.giveBack(slot)
    origins.items[record.origin].open -= 1
    if record.standing != .serving { origins.items[record.origin].withheld -= 1 }
    if record.idleSince != nil { idleCount -= 1 }
  }

  /// Removes the record of an origin without connections and waiters, so that records do not accumulate.
  private mutating func prune(_ origin: Int) {
    guard origins.items[origin].isEmpty, originSlots[origins.items[origin].key] == origin else { return }
    originSlots[origins.items[origin].key] = nil
    starved.removeAll { $0 == origin }
    origins.giveBack(origin)
  }

  /// Requests a wake-up for the instant when the first idle connection expires, unless a wake-up is pending, or when
  /// the first pause of an origin ends, unless an earlier wake-up is pending.
  private mutating func wake(_ actions: inout [Action]) {
    guard !isShutDown, wakeUps.isEmpty && idleCount > 0 || !calm.isEmpty else { return }
    var first = calm.values.min()
    if wakeUps.isEmpty {
      for slot in connectionSlots.values {
        guard let since = connections.items[slot].idleSince else { continue }
        var due = since.advanced(by: limits.idleTimeout)
        if let age = limits.maximumAge { due = min(due, connections.items[slot].openedAt.advanced(by: age)) }
        first = min(first ?? due, due)
      }
    }
    guard let first, wakeUps.last.map({ first < $0 }) ?? true else { return }
    wakeUps.append(first)
    actions.append(.wake(first))
  }
}
