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

/// The core of a transport: its settings, event loops, connections and connection attempts. Performs the actions of
/// ``PoolState``.
final class TransportCore: Sendable {
  typealias Pool = PoolState<Origin, Connection, Exchange>

  let options: NIOTransport.Options
  /// The fault in the options, thrown by every call.
  let fault: TransportError?
  let timeouts: Timeouts
  let requestSettings: RequestSettings
  let loops: EventLoopSource
  let resolver: NameResolver
  let continuations = ContinuationExecutor()
  private let connectSettings: ConnectSettings
  private let codingLimits: CodingLimits
  private let clock = SystemClock()
  private let pool: Mutex<Pool>
  private let attempts = ConnectionAttempts()
  private let drained = Latch()

  /// - Parameter resolver: resolves host names. Default: the system's.
  init(options: NIOTransport.Options, resolver: NameResolver = .system) {
    self.options = options
    self.resolver = resolver
    fault = options.fault
    timeouts = Timeouts(firstByte: options.firstByteTimeout, stall: options.stallTimeout)
    codingLimits = CodingLimits(options.limits)
    let proxyRules = ProxyRules(options.proxy) { ProcessInfo.processInfo.environment }
    requestSettings = RequestSettings(
      proxyRules: proxyRules, decodesContent: options.decompressesContent, userAgent: options.userAgent)
    connectSettings = ConnectSettings(
      timeout: options.connectTimeout, proxyRules: proxyRules,
      secureContext: SecureContext { [trust = options.trust] in try trust.configuration() },
      pins: options.trust.pins, addresses: options.addresses, framingLimits: FramingLimits(options.limits),
      resolver: resolver)
    pool = Mutex(Pool(limits: PoolLimits(options), assumedCapacity: Self.assumedCapacity(options.protocols)))
    loops = EventLoopSource(options.eventLoops)
  }

  /// The numbers of connections and waiting exchanges.
  var counts: Pool.Counts { pool.withLock { $0.counts } }

  // MARK: Acquiring and releasing connections

  /// Acquires a connection for an exchange, now or later.
  ///
  /// - Parameter isAdmitted: whether the exchange was on a connection before.
  func acquireConnection(for exchange: Exchange, isAdmitted: Bool) {
    var isQueued = false
    perform { pool in
      let origin = exchange.request.origin
      let actions =
        exchange.requestsNewConnection
        ? pool.acquireNew(exchange, for: origin, isAdmitted: isAdmitted, now: clock.now)
        : pool.acquire(exchange, for: origin, isAdmitted: isAdmitted, now: clock.now)
      if case .use = actions.last { return actions }
      exchange.startedToWait(isDelayedByLimits: !pool.isConnecting(forLastOf: exchange.request.origin))
      isQueued = true
      return actions
    }
    // If the exchange ended before it was queued, `end` could not withdraw it.
    if isQueued, exchange.place == .over { withdraw(exchange) }
  }

  /// Removes an exchange that waits for a connection.
  func withdraw(_ exchange: Exchange) {
    perform { $0.cancelled(exchange) }
    let origin = exchange.request.origin
    if hasUnneededAttempts(to: origin) { attempts.giveUpLookups(of: origin) }
  }

  private func hasUnneededAttempts(to origin: Origin) -> Bool {
    pool.withLock { $0.hasUnneededAttempts(to: origin) }
  }

  /// Returns the number of exchanges that a connection to an origin of unknown protocol is expected to carry.
  private static func assumedCapacity(_ versions: [HTTPVersion]) -> @Sendable (Origin) -> Int {
    if !versions.contains(.http2) { return { _ in 1 } }
    let cleartext = versions.contains(.http1) ? 1 : MultiplexState.assumedStreams
    // Over TLS the handshake decides. Until then all calls wait for one connection.
    return { $0.scheme == "https" ? .max : cleartext }
  }

  func connectionBecameFree(_ connection: Connection, isSuspended: Bool) {
    perform { $0.released(connection, canReuse: true, isSuspended: isSuspended, now: clock.now) }
  }

  func connectionSuspended(_ connection: Connection) {
    perform { $0.suspended(connection) }
  }

  func connectionResumed(_ connection: Connection) {
    perform { $0.resumed(connection) }
  }

  func capacityChanged(of connection: Connection, to capacity: Int) {
    perform { $0.capacityChanged(connection, to: capacity) }
  }

  func calm(_ origin: Origin) {
    perform { $0.calm(origin, until: clock.now.advanced(by: Self.calmTime)) }
  }

  func restrictToHTTP1(_ origin: Origin) {
    guard offersHTTP1 else { return }
    perform {
      $0.restrictToHTTP1(origin, until: clock.now.advanced(by: Self.restrictionTime), retiring: \.isShared)
    }
  }

  /// The time without new connections to an origin after ENHANCE_YOUR_CALM.
  private static let calmTime = Duration.seconds(1)
  /// The time for which HTTP_1_1_REQUIRED is remembered.
  private static let restrictionTime = Duration.seconds(3600)

  func connectionClosed(_ connection: Connection) {
    perform { $0.closed(connection, now: clock.now) }
  }

  // MARK: Performing the pool's actions

  /// Passes an event to the pool under its lock, and performs the resulting actions outside of it.
  private func perform(after error: TransportError? = nil, _ event: (inout Pool) -> [Pool.Action]) {
    for action in pool.withLock({ event(&$0) }) {
      switch action {
      case .use(let connection, let exchange): use(connection, for: exchange)
      case .connect(let origin): connect(origin)
      case .refuse(let exchange, let refusal): exchange.fail(refusal.error(after: error))
      case .close(let connection): connection.closeIfIdle()
      case .wake(let instant): wake(at: instant)
      case .drained: drained.open()
      }
    }
  }

  private func use(_ connection: Connection, for exchange: Exchange) {
    guard exchange.needsNewConnection, connection.hasServed, !connection.isShared else {
      return connection.carry(exchange)
    }
    // The exchange needs a new connection: after a stale connection, this reused connection may be stale too.
    perform { $0.released(connection, canReuse: false, now: clock.now) }
    acquireConnection(for: exchange, isAdmitted: true)
  }

  private func connect(_ origin: Origin) {
    guard let loop = loops.next() else {
      return perform(after: .shutDown) { $0.connectFailed(for: origin, now: clock.now) }
    }
    // Always asynchronous, because the caller may be inside a read.
    loop.execute {
      let versions = self.allowsHTTP2(origin) ? self.options.protocols : [.http1]
      let attempt = ConnectionAttempt(to: origin, on: loop, versions: versions, settings: self.connectSettings)
      self.attempts.add(attempt, to: origin, on: loop)
      attempt.start { result in
        self.attempts.remove(attempt)
        self.attemptEnded(attempt, to: origin, result)
      }
      // An exchange that was withdrawn before the connection attempt was added could not give up the connection
      // attempt.
      if self.hasUnneededAttempts(to: origin) { attempt.giveUpLookup() }
    }
  }

  /// Whether an origin is not restricted to HTTP/1.1, see ``restrictToHTTP1(_:)``.
  private func allowsHTTP2(_ origin: Origin) -> Bool {
    pool.withLock { $0.allowsMultiplexing(origin, now: clock.now) }
  }

  private func attemptEnded(
    _ attempt: ConnectionAttempt, to origin: Origin, _ result: Result<ConnectedChannel, TransportError>
  ) {
    switch result {
    case .success(let connected) where connected.version == .http2 && !allowsHTTP2(origin):
      // The origin was restricted meanwhile.
      connected.channel.close(promise: nil)
      perform { $0.connectGivenUp(for: origin) }
    case .success(let connected):
      do {
        let connection = try makeConnection(to: origin, on: connected)
        let capacity = connection.isShared ? MultiplexState.assumedStreams : 1
        perform { $0.connected(connection, for: origin, capacity: capacity, now: clock.now) }
      } catch {
        connected.channel.close(promise: nil)
        let error = TransportError(connecting: error, to: attempt.peer)
        perform(after: error) { $0.connectFailed(for: origin, now: clock.now) }
      }
    case .failure where attempt.isGivenUp: perform { $0.connectGivenUp(for: origin) }
    case .failure(let error): perform(after: error) { $0.connectFailed(for: origin, now: clock.now) }
    }
  }

  private func makeConnection(to origin: Origin, on connected: ConnectedChannel) throws -> Connection {
    switch connected.version {
    case .http1:
      let handler = ConnectionHandler(
        owner: self, framingLimits: connectSettings.framingLimits, codingLimits: codingLimits)
      return try Connection(to: origin, on: connected, carrier: handler)
    case .http2:
      let handler = MultiplexHandler(
        owner: self, limits: FrameReader.Limits(options.limits), codingLimits: codingLimits)
      return try Connection(to: origin, on: connected, carrier: handler)
    }
  }

  private func wake(at instant: MonotonicInstant) {
    let delay = max(.zero, clock.now.duration(to: instant))
    loops.next()?.scheduleTask(in: TimeAmount(delay)) { [weak self] in
      guard let self else { return }
      self.perform { $0.tick(now: self.clock.now) }
    }
  }

  // MARK: Shutting down

  /// Refuses new exchanges, waits up to the grace period for current exchanges, then closes all connections and waits
  /// until they are closed.
  func shutDown(within grace: Duration) async {
    perform { $0.shutDown() }
    if grace > .zero { await waitUntilDrained(atMost: grace) }
    for channel in terminateConnections() { try? await channel.closeFuture.get() }
    // All connections are closing. The wait is limited, so that the shutdown returns even if an event loop is blocked.
    await waitUntilDrained(atMost: .seconds(1))
    await loops.shutDown()
  }

  private func waitUntilDrained(atMost limit: Duration) async {
    // If the pool is empty already, no event loop is started for the wait.
    guard !drained.isOpen, let loop = loops.next() else { return }
    await drained.wait(atMost: TimeAmount(limit), on: loop)
  }

  /// Closes all connections without waiting.
  func close() {
    perform { $0.shutDown() }
    _ = terminateConnections()
    loops.abandon()
  }

  private func terminateConnections() -> [any Channel] {
    let connections = pool.withLock { $0.openConnections }
    for connection in connections { connection.terminate(.shutDown) }
    attempts.cancelAll()
    return connections.map(\.channel)
  }
}

extension NIOTransport.Options {
  /// The error that ``validate()`` throws.
  fileprivate var fault: TransportError? {
    do {
      try validate()
      return nil
    } catch {
      return error
    }
  }
}

extension TransportCore.Pool.Refusal {
  /// Returns the error of the refused exchange.
  fileprivate func error(after failure: TransportError?) -> TransportError {
    switch self {
    case .connectFailed: failure ?? TransportError(.connectionFailed, requestState: .notSent)
    case .queueFull:
      TransportError(.refused, requestState: .notSent, detail: "too many calls wait for a connection").attributed(
        to: .trafficControl)
    case .shutDown: .shutDown
    }
  }
}

/// The path of an exchange to a connection.
extension TransportCore: ConnectionOwner {
  /// Creates an exchange for a message.
  ///
  /// - Throws: `TransportError` if the transport's options are invalid or the message cannot be sent.
  func makeExchange(for request: RequestMessage, context: ExchangeContext) throws(TransportError) -> Exchange {
    if let fault { throw fault }
    let request = try PreparedRequest(request, to: context.origin(of: request), settings: requestSettings)
    return Exchange(request, context: context, timeouts: timeouts, owner: self)
  }

  /// Begins an exchange. The continuation is resumed exactly once.
  func begin(_ exchange: Exchange, _ continuation: Exchange.Continuation) {
    guard exchange.begin(continuation) else { return continuation.resume(throwing: CancellationError()) }
    findConnection(for: exchange, isAdmitted: false)
  }

  var offersHTTP1: Bool { options.protocols.contains(.http1) }

  func resend(_ exchange: Exchange, _ reason: Exchange.State.Return) -> Bool {
    if case .stale = reason, !options.retriesOnStaleConnection { return false }
    guard exchange.requeue(reason) else { return false }
    exchange.context.record(.resent)
    findConnection(for: exchange, isAdmitted: true)
    return true
  }

  func resume(on loop: any EventLoop, _ resume: () -> Void) {
    continuations.resume(on: loop, resume)
  }

  func executor(on loop: any EventLoop) -> (any TaskExecutor)? {
    loops.neverEnd ? EventLoopExecutor(loop) : nil
  }

  private func findConnection(for exchange: Exchange, isAdmitted: Bool) {
    acquireConnection(for: exchange, isAdmitted: isAdmitted)
    guard let limit = exchange.timeouts.connection else { return }
    let alarm = loops.next()?.scheduleTask(in: limit) { exchange.waitedTooLong() }
    if !exchange.keep(alarm) { alarm?.cancel() }
  }
}
