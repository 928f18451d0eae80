#if NIO
  import ApusCore

  /// The steps that the events of a pool are made of.
  extension PoolState {
    /// Gives a free connection to whoever waits for its origin; or keeps it.
    mutating func offer(_ connection: ConnectionID, of key: Key, now: MonotonicInstant) -> [Action] {
      if let waiter = popWaiter(of: key) { return [.use(connection, waiter)] }
      var actions: [Action] = []
      connections[connection]?.idleSince = now
      hosts[key, default: Host()].idle.append(connection)
      idleCount += 1
      // It gives way at once where another origin has waited for the total.
      dialForStarved(&actions)
      wake(&actions)
      return actions
    }

    mutating func popIdle(of key: Key) -> ConnectionID? {
      guard let connection = hosts[key]?.idle.popLast() else { return nil }
      idleCount -= 1
      return connection
    }

    mutating func popWaiter(of key: Key) -> WaiterID? {
      guard let waiter = hosts[key]?.waiters.popFirst() else { return nil }
      waiting[waiter] = nil
      return waiter
    }

    mutating func endDial(for key: Key) {
      dialing -= 1
      hosts[key]?.dialing -= 1
    }

    /// Has a connection made where one more waits than are under way.
    mutating func dialIfNeeded(for key: Key, _ actions: inout [Action]) {
      guard needsDial(key) else { return }
      guard isBelowTotal || makeRoom(&actions) else {
        if !starved.contains(key) { starved.append(key) }
        return
      }
      hosts[key]?.dialing += 1
      dialing += 1
      actions.append(.dial(key))
    }

    /// Whether one more need not wait for others: a connection is on its way that nobody waits for, or one may be made.
    func hasRoom(for key: Key) -> Bool {
      let host = hosts[key] ?? Host()
      return host.waiters.count < host.dialing || isBelowLimit(host) && (isBelowTotal || idleCount > 0)
    }

    /// Whether as many connections are being made as wait, so that the one that came last need not wait for others.
    func isDialing(forLastOf key: Key) -> Bool {
      hosts[key].map { $0.waiters.count <= $0.dialing } ?? false
    }

    private func isBelowLimit(_ host: Host) -> Bool {
      host.held - host.streaming < max(1, limits.connectionsPerOrigin)
    }

    /// Whether an origin has more connections than it may, because others were made in the place of streams.
    func isTooMany(_ key: Key) -> Bool {
      hosts[key].map { $0.held - $0.streaming > max(1, limits.connectionsPerOrigin) } ?? false
    }

    /// A connection carries no stream any more.
    mutating func endStream(on connection: ConnectionID) {
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

    /// Goes through those for whom there was no room, as long as there is.
    mutating func dialForStarved(_ actions: inout [Action]) {
      while let key = starved.first {
        guard needsDial(key) else {
          starved.removeFirst()
          continue
        }
        let before = dialing
        dialIfNeeded(for: key, &actions)
        guard dialing > before else { return }
        // The next in line comes next, however many wait here.
        starved.removeFirst()
        if needsDial(key) { starved.append(key) }
      }
    }

    /// The origin that has waited longest for the total, where it is to have the place of a connection to `key`.
    func rival(of key: Key) -> Key? {
      starved.first { other in
        guard other != key, needsDial(other), let host = hosts[other], let ticket = firstTicket(of: other) else {
          return false
        }
        // Whoever waits for this one and came first is served first. Where nobody does it stays unused, and gives way.
        guard let own = firstTicket(of: key), ticket < own else { return false }
        return host.held == 0 || host.held + 1 < (hosts[key]?.held ?? 0)
      }
    }

    private func firstTicket(of key: Key) -> UInt64? {
      hosts[key]?.waiters.first.flatMap { waiting[$0]?.ticket }
    }

    /// Gives the place of a used connection to another origin. The connection is to be closed.
    mutating func hand(over connection: ConnectionID, to rival: Key) -> [Action] {
      guard let key = connections[connection]?.key else { return [] }
      forget(connection)
      starved.removeAll { $0 == rival }
      var actions: [Action] = []
      dialIfNeeded(for: rival, &actions)
      // Both want more than they have: the next in line comes next.
      for key in [rival, key] { dialIfNeeded(for: key, &actions) }
      prune(key)
      return actions
    }

    /// Closes the connection that has been unused for longest; answers whether there was one.
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

    /// Closes the connection to an origin that has been unused for longest, where none could be made beside it.
    mutating func makeRoom(for key: Key, _ actions: inout [Action]) {
      guard let host = hosts[key], !isBelowLimit(host), let connection = host.idle.first else { return }
      forget(connection)
      actions.append(.close(connection))
    }

    /// Takes a connection out of the books.
    mutating func forget(_ connection: ConnectionID) {
      guard let record = connections.removeValue(forKey: connection) else { return }
      hosts[record.key]?.open -= 1
      if record.isStreaming { hosts[record.key]?.streaming -= 1 }
      guard record.idleSince != nil, let index = hosts[record.key]?.idle.firstIndex(of: connection) else { return }
      hosts[record.key]?.idle.remove(at: index)
      idleCount -= 1
    }

    /// Origins come and go: one of which nothing is left is not remembered.
    mutating func prune(_ key: Key) {
      if hosts[key]?.isEmpty == true { hosts[key] = nil }
    }

    func isUsable(_ connection: ConnectionID, now: MonotonicInstant) -> Bool {
      guard let record = connections[connection], let since = record.idleSince else { return false }
      return since.duration(to: now) < limits.idleTimeout && !isAged(record, now: now)
    }

    func isAged(_ record: Connection, now: MonotonicInstant) -> Bool {
      limits.maximumAge.map { record.openedAt.duration(to: now) >= $0 } ?? false
    }

    /// Asks to be woken when the first unused connection is due, unless that has been asked already.
    mutating func wake(_ actions: inout [Action]) {
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
