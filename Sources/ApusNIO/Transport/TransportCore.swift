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

  /// What the parts of a transport share: options, threads, connections. Does what the pool decides.
  final class TransportCore: Sendable {
    typealias Pool = PoolState<Origin, Connection, Exchange>

    let options: NIOTransport.Options
    /// What is wrong with the options, told to every call.
    let fault: TransportError?
    let timeouts: Timeouts
    let connectTimeout: TimeAmount?
    let framingLimits: FramingLimits
    let codingLimits: CodingLimits
    let proxyRules: ProxyRules
    let secureContext: SecureContext
    /// The field that names the client.
    let userAgent: HTTPFields
    /// The field that says which codings can be undone.
    let codings: HTTPFields = [.acceptEncoding: ContentCoding.acceptable]
    /// Both.
    let allFields: HTTPFields
    private let clock = SystemClock()
    private let pool: Mutex<Pool>
    let loops: EventLoopSource
    let resolver: NameResolver
    private let dials = OpenDials()
    private let drained = Latch()

    /// - Parameter resolver: finds the addresses of names. Default: the system's.
    init(options: NIOTransport.Options, resolver: NameResolver = .system) {
      self.options = options
      self.resolver = resolver
      fault = options.fault
      timeouts = Timeouts(options)
      connectTimeout = options.connectTimeout.map { TimeAmount($0) }
      framingLimits = FramingLimits(options.limits)
      codingLimits = CodingLimits(options.limits)
      proxyRules = ProxyRules(options.proxy) { ProcessInfo.processInfo.environment }
      secureContext = SecureContext(trust: options.trust)
      userAgent = [.userAgent: options.userAgent]
      allFields = [.userAgent: options.userAgent, .acceptEncoding: ContentCoding.acceptable]
      pool = Mutex(Pool(limits: PoolLimits(options)))
      loops = EventLoopSource(options.eventLoops)
    }

    var usage: NIOTransport.Usage { pool.withLock { $0.usage } }

    // MARK: Exchanges

    /// Has the exchange put on a connection, now or when there is one.
    ///
    /// - Parameter again: whether it was on one before.
    func acquire(_ exchange: Exchange, again: Bool = false) {
      decide { pool in
        let origin = exchange.request.origin
        let actions =
          exchange.wantsNewConnection
          ? pool.acquireNew(exchange, for: origin, isAdmitted: again)
          : pool.acquire(exchange, for: origin, isAdmitted: again, now: clock.now)
        if case .use = actions.last { return actions }
        exchange.hasToWait(isHeldUp: !pool.isDialing(forLastOf: exchange.request.origin))
        return actions
      }
    }

    /// The exchange does not wait for a connection any more.
    func withdraw(_ exchange: Exchange) {
      decide { $0.cancelled(exchange) }
      let origin = exchange.request.origin
      if hasUnwantedDials(to: origin) { dials.giveUpLookups(of: origin) }
    }

    private func hasUnwantedDials(to origin: Origin) -> Bool {
      pool.withLock { $0.hasUnwantedDials(to: origin) }
    }

    // MARK: Connections

    /// A connection is free for the next exchange.
    func release(_ connection: Connection) {
      decide { $0.released(connection, canReuse: true, now: clock.now) }
    }

    /// A connection carries content that is read while it arrives, for as long as that takes.
    func streams(_ connection: Connection) {
      decide { $0.streams(connection) }
    }

    /// A connection is closed.
    func forget(_ connection: Connection) {
      decide { $0.closed(connection, now: clock.now) }
    }

    // MARK: Doing

    /// Lets the pool decide under its lock, and does what it decided outside of it.
    private func decide(after error: TransportError? = nil, _ decision: (inout Pool) -> [Pool.Action]) {
      for action in pool.withLock({ decision(&$0) }) {
        switch action {
        case .use(let connection, let exchange): use(connection, for: exchange)
        case .dial(let origin): dial(origin)
        case .refuse(let exchange, let refusal): exchange.fail(refusal.error(after: error))
        case .close(let connection): connection.close()
        case .wake(let instant): wake(at: instant)
        case .drained: drained.open()
        }
      }
    }

    private func use(_ connection: Connection, for exchange: Exchange) {
      guard exchange.needsNewConnection, connection.hasServed else { return connection.start(exchange) }
      // One connection was found closed, and this one has been left alone as long.
      decide { $0.released(connection, canReuse: false, now: clock.now) }
      acquire(exchange, again: true)
    }

    private func dial(_ origin: Origin) {
      guard let loop = loops.next() else {
        return decide(after: .shutDown) { $0.dialFailed(for: origin, now: clock.now) }
      }
      // Never at once: whoever asks may be inside of a read.
      loop.execute {
        let dial = Dial(to: origin, on: loop, core: self)
        self.dials.add(dial, to: origin, on: loop)
        dial.start { result in
          self.dials.remove(dial)
          switch result {
          case .success(let connection): self.decide { $0.dialed(connection, for: origin, now: self.clock.now) }
          case .failure where dial.isGivenUp: self.decide { $0.dialGivenUp(for: origin) }
          case .failure(let error):
            self.decide(after: error) { $0.dialFailed(for: origin, now: self.clock.now) }
          }
        }
        // An exchange that left before the dial was added did not find it.
        if self.hasUnwantedDials(to: origin) { dial.giveUpLookup() }
      }
    }

    private func wake(at instant: MonotonicInstant) {
      let delay = max(.zero, clock.now.duration(to: instant))
      loops.next()?.scheduleTask(in: TimeAmount(delay)) { [weak self] in
        guard let self else { return }
        self.decide { $0.tick(now: self.clock.now) }
      }
    }

    // MARK: Ending

    /// Refuses what comes, lets run what runs for a while, then ends everything.
    func shutDown(within grace: Duration) async {
      decide { $0.shutDown() }
      if grace > .zero { await waitUntilDrained(atMost: grace) }
      for channel in endConnections() { try? await channel.closeFuture.get() }
      // What was being connected has been given up by now; should a loop not come to it, nobody waits for ever.
      await waitUntilDrained(atMost: .seconds(1))
      await loops.shutDown()
    }

    private func waitUntilDrained(atMost limit: Duration) async {
      // Where nothing is left no threads are begun to wait on.
      guard !drained.isOpen, let loop = loops.next() else { return }
      await drained.wait(atMost: TimeAmount(limit), on: loop)
    }

    /// Ends everything, and waits for nothing.
    func close() {
      decide { $0.shutDown() }
      _ = endConnections()
      loops.abandon()
    }

    private func endConnections() -> [any Channel] {
      let connections = pool.withLock { Array($0.connections.keys) }
      for connection in connections { connection.end(.shutDown) }
      dials.cancelAll()
      return connections.map(\.channel)
    }
  }

  extension TransportCore.Pool {
    fileprivate var usage: NIOTransport.Usage {
      var usage = NIOTransport.Usage()
      usage.active = connections.count - idleCount
      usage.idle = idleCount
      usage.connecting = dialing
      usage.waiting = waiting.count
      return usage
    }
  }

  extension PoolLimits {
    init(_ options: NIOTransport.Options) {
      self.init(
        connectionsPerOrigin: options.connectionsPerOrigin, connections: options.connections,
        waiting: options.waiting ?? .max, idleTimeout: options.idleTimeout, maximumAge: options.maximumAge)
    }
  }

  extension NIOTransport.Options {
    /// What ``check()`` throws.
    fileprivate var fault: TransportError? {
      do {
        try check()
        return nil
      } catch {
        return error
      }
    }
  }

  extension TransportCore.Pool.Refusal {
    /// What whoever waited is told.
    fileprivate func error(after failure: TransportError?) -> TransportError {
      switch self {
      case .dialFailed: failure ?? TransportError(.connectionFailed, requestState: .notSent)
      case .queueFull:
        TransportError(.declined, requestState: .notSent, detail: "too many wait for a connection").about(.control)
      case .shutDown: .shutDown
      }
    }
  }
#endif
