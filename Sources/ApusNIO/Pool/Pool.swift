#if NIO
  import ApusCore
  import NIOCore
  import Synchronization

  /// The connections of a transport, and who waits for one: decides under a lock, and leaves the doing to its owner.
  final class Pool: Sendable {
    /// What is to be done, in this order, outside of the lock.
    typealias Actions = [Action]

    enum Action {
      case start(Exchange, Connection)
      case dial(Origin)
      case fail(Exchange, TransportError)
      case close(Connection)
      /// Call ``Pool/tick()`` after so long.
      case tick(TimeAmount)
    }

    private struct Host {
      /// Unused connections, the one used last at the end.
      var idle: [(connection: Connection, since: NIODeadline)] = []
      var waiters: [Exchange] = []
      var open = 0
      var dialing = 0
    }

    private struct State {
      var hosts: [Origin: Host] = [:]
      var connections: Set<Connection> = []
      var isTicking = false
      var isShutDown = false
      var emptied: [CheckedContinuation<Void, Never>] = []
    }

    private let limit: Int
    private let idleTimeout: TimeAmount
    private let maximumAge: TimeAmount?
    private let state = Mutex(State())

    init(options: NIOTransport.Options) {
      limit = max(1, options.connectionsPerOrigin)
      idleTimeout = TimeAmount(options.idleTimeout)
      maximumAge = options.maximumAge.map { TimeAmount($0) }
    }

    var openConnections: [Connection] { state.withLock { Array($0.connections) } }

    func acquire(_ exchange: Exchange) -> Actions {
      let origin = exchange.request.origin
      return state.withLock { state in
        if state.isShutDown { return [.fail(exchange, .shutDown)] }
        var closing: Actions = []
        if exchange.needsNewConnection {
          // What else is idle was left alone as long, and makes room.
          closing = (state.hosts[origin]?.idle ?? []).map { .close($0.connection) }
          state.hosts[origin]?.idle = []
        } else if let connection = state.hosts[origin]?.idle.popLast()?.connection {
          return [.start(exchange, connection)]
        }
        exchange.hasToWait()
        state.hosts[origin, default: Host()].waiters.append(exchange)
        return closing + dials(for: origin, &state)
      }
    }

    func withdraw(_ exchange: Exchange) -> Actions {
      state.withLock { state in
        state.hosts[exchange.request.origin]?.waiters.removeAll { $0 === exchange }
        return []
      }
    }

    func dialed(_ connection: Connection) -> Actions {
      state.withLock { state in
        state.hosts[connection.origin, default: Host()].dialing -= 1
        guard !state.isShutDown else { return [.close(connection)] }
        state.hosts[connection.origin, default: Host()].open += 1
        state.connections.insert(connection)
        return use(connection, isNew: true, &state)
      }
    }

    func dialFailed(_ origin: Origin, _ error: TransportError) -> Actions {
      state.withLock { state in
        state.hosts[origin, default: Host()].dialing -= 1
        guard let host = state.hosts[origin], host.waiters.count > host.dialing, !host.waiters.isEmpty else {
          return []
        }
        let exchange = state.hosts[origin, default: Host()].waiters.removeFirst()
        return [.fail(exchange, error)] + dials(for: origin, &state)
      }
    }

    func release(_ connection: Connection) -> Actions {
      state.withLock { state in
        if state.isShutDown || isOld(connection) { return [.close(connection)] }
        return use(connection, isNew: false, &state)
      }
    }

    func forget(_ connection: Connection) -> Actions {
      let (actions, emptied): (Actions, [CheckedContinuation<Void, Never>]) = state.withLock { state in
        guard state.connections.remove(connection) != nil else { return ([], []) }
        state.hosts[connection.origin]?.open -= 1
        state.hosts[connection.origin]?.idle.removeAll { $0.connection === connection }
        let emptied = state.connections.isEmpty ? state.emptied : []
        if state.connections.isEmpty { state.emptied = [] }
        return (dials(for: connection.origin, &state), emptied)
      }
      for waiter in emptied { waiter.resume() }
      return actions
    }

    /// Closes what has been idle for too long.
    func tick() -> Actions {
      state.withLock { state in
        state.isTicking = false
        let now = NIODeadline.now()
        var actions: Actions = []
        for origin in state.hosts.keys {
          let stale = state.hosts[origin]?.idle.filter { now - $0.since >= idleTimeout || isOld($0.connection) } ?? []
          for entry in stale { actions.append(.close(entry.connection)) }
          state.hosts[origin]?.idle.removeAll { entry in stale.contains { $0.connection === entry.connection } }
        }
        return actions + ticks(&state)
      }
    }

    func shutDown() -> Actions {
      state.withLock { state in
        state.isShutDown = true
        var actions: Actions = []
        for host in state.hosts.values {
          actions += host.waiters.map { .fail($0, .shutDown) }
          actions += host.idle.map { .close($0.connection) }
        }
        for origin in state.hosts.keys {
          state.hosts[origin]?.waiters = []
          state.hosts[origin]?.idle = []
        }
        return actions
      }
    }

    private func use(_ connection: Connection, isNew: Bool, _ state: inout State) -> Actions {
      let origin = connection.origin
      if let first = state.hosts[origin]?.waiters.firstIndex(where: { isNew || !$0.needsNewConnection }) {
        return [.start(state.hosts[origin, default: Host()].waiters.remove(at: first), connection)]
      }
      state.hosts[origin, default: Host()].idle.append((connection, .now()))
      return ticks(&state)
    }

    private func dials(for origin: Origin, _ state: inout State) -> Actions {
      guard let host = state.hosts[origin], !state.isShutDown else { return [] }
      guard host.waiters.count > host.dialing, host.open + host.dialing < limit else { return [] }
      state.hosts[origin, default: Host()].dialing += 1
      return [.dial(origin)]
    }

    private func ticks(_ state: inout State) -> Actions {
      guard !state.isTicking, state.hosts.values.contains(where: { !$0.idle.isEmpty }) else { return [] }
      state.isTicking = true
      return [.tick(idleTimeout)]
    }

    private func isOld(_ connection: Connection) -> Bool {
      maximumAge.map { NIODeadline.now() - connection.openedAt >= $0 } ?? false
    }

    /// Returns once there is no connection, or the time is over.
    func waitUntilEmpty(within limit: Duration) async throws {
      try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await Task.sleep(for: limit) }
        group.addTask { await self.waitUntilEmpty() }
        try await group.next()
        for waiter in self.state.withLock({ state in
          defer { state.emptied = [] }
          return state.emptied
        }) { waiter.resume() }
      }
    }

    private func waitUntilEmpty() async {
      await withCheckedContinuation { waiter in
        let isEmpty = state.withLock { state in
          if !state.connections.isEmpty { state.emptied.append(waiter) }
          return state.connections.isEmpty
        }
        if isEmpty { waiter.resume() }
      }
    }
  }
#endif
