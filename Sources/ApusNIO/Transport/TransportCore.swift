#if NIO
  import ApusCore
  import HTTPTypes
  import NIOCore
  import NIOPosix
  import Synchronization

  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif

  /// What the parts of a transport share: options, threads, connections.
  final class TransportCore: Sendable {
    private struct State {
      var group: MultiThreadedEventLoopGroup?
      var isClosed = false
    }

    let options: NIOTransport.Options
    let timeouts: Timeouts
    let proxyRules: ProxyRules
    /// The field that names the client.
    let userAgent: HTTPFields
    let connector: Connector
    let secureContext: SecureContext
    private let pool: Pool
    private let state = Mutex(State())

    init(options: NIOTransport.Options) {
      self.options = options
      timeouts = Timeouts(options)
      proxyRules = ProxyRules(options.proxy) { ProcessInfo.processInfo.environment }
      userAgent = [.userAgent: options.userAgent]
      pool = Pool(options: options)
      connector = Connector(options: options)
      secureContext = SecureContext(trust: options.trust)
    }

    // MARK: Exchanges

    /// Has the exchange put on a connection, now or when there is one.
    func acquire(_ exchange: Exchange) {
      perform(pool.acquire(exchange))
    }

    /// The exchange does not wait for a connection any more.
    func withdraw(_ exchange: Exchange) {
      perform(pool.withdraw(exchange))
    }

    // MARK: Connections

    /// A connection is free for the next exchange.
    func release(_ connection: Connection) {
      perform(pool.release(connection))
    }

    /// A connection is closed.
    func forget(_ connection: Connection) {
      perform(pool.forget(connection))
    }

    /// The loop that a new connection is served on: the caller's own, where it is one of the transport's.
    private func nextLoop() -> (any EventLoop)? {
      state.withLock { state in
        guard !state.isClosed else { return nil }
        switch options.eventLoops {
        case .shared: return MultiThreadedEventLoopGroup.singleton.any()
        case .own(let count):
          let group = state.group ?? MultiThreadedEventLoopGroup(numberOfThreads: max(1, count))
          state.group = group
          return group.any()
        }
      }
    }

    // MARK: Performing

    private func perform(_ actions: Pool.Actions) {
      for action in actions {
        switch action {
        case .start(let exchange, let connection): connection.start(exchange)
        case .dial(let origin): dial(origin)
        case .fail(let exchange, let error): exchange.end(throwing: error)
        case .close(let connection): connection.close()
        case .tick(let delay): tick(after: delay)
        }
      }
    }

    private func dial(_ origin: Origin) {
      guard let loop = nextLoop() else { return perform(pool.dialFailed(origin, .shutDown)) }
      connector.connect(to: origin, on: loop, core: self) { result in
        switch result {
        case .success(let connection): self.perform(self.pool.dialed(connection))
        case .failure(let error): self.perform(self.pool.dialFailed(origin, error))
        }
      }
    }

    private func tick(after delay: TimeAmount) {
      nextLoop()?.scheduleTask(in: delay) { [weak self] in
        guard let self else { return }
        self.perform(self.pool.tick())
      }
    }

    // MARK: Ending

    /// Ends everything at once.
    func close() {
      perform(pool.shutDown())
      for connection in pool.openConnections { connection.end(.shutDown) }
      let group = state.withLock { state in
        state.isClosed = true
        defer { state.group = nil }
        return state.group
      }
      group?.shutdownGracefully { _ in }
    }

    /// Refuses what comes, lets run what runs for a while, then ends everything.
    func shutDown(within grace: Duration) async {
      perform(pool.shutDown())
      if grace > .zero { try? await pool.waitUntilEmpty(within: grace) }
      let connections = pool.openConnections
      for connection in connections { connection.end(.shutDown) }
      for connection in connections { try? await connection.channel.closeFuture.get() }
      let group = state.withLock { state in
        state.isClosed = true
        defer { state.group = nil }
        return state.group
      }
      try? await group?.shutdownGracefully()
    }
  }
#endif
