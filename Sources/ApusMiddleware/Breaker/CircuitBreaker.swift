public import ApusCore
import HTTPTypes
import Synchronization

/// Stops sending to a server that keeps failing: calls are refused at once, which spares the app the wait and the
/// server the load, until one call that is let through shows that it is well again.
///
/// It stands inside retry, so that every attempt is counted, and outside of redirects, so that a call counts for the
/// origin it was meant for. Each origin has a circuit of its own, and so have groups of endpoints that ask for it
/// (`.breaker(.group("search"))`).
///
/// - Failures are transport errors, time limits that a server let pass, and the statuses 500, 502, 503 and 504. A call
///   that was cancelled says nothing, nor does one that could not be sent since the device has no network, one whose
///   time went by while it waited on this side, or one at which something else failed than the server: its content, or
///   a refresh that it needed (``ApusCore/TransportError/subject``).
/// - A call counts once its content is over. For the one that is let through to see, a head that is no failure is
///   enough.
/// - While it is open, what becomes of calls that had begun before changes nothing.
/// - Calls that do work for many others, such as fetching a token (``SharedWorkKey``), pass and are not counted.
///
/// Use one for several clients to have them share what they know.
public final class CircuitBreaker: Middleware {
  struct Key: Hashable, Sendable {
    let origin: OriginKey
    let group: String?
  }

  let policy: BreakerPolicy
  private let onChange: (@Sendable (BreakerChange) -> Void)?
  private let circuits = Mutex(Circuits())

  /// Makes a breaker whose circuits are all closed.
  ///
  /// - Parameters:
  ///   - policy: when it opens, and for how long. Default: ``BreakerPolicy/interactive``.
  ///   - onChange: told when a circuit opens, lets a call through to see, or closes; from any thread. Default: nobody.
  public init(_ policy: BreakerPolicy = .interactive, onChange: (@Sendable (BreakerChange) -> Void)? = nil) {
    self.policy = policy
    self.onChange = onChange
  }

  /// What the circuits do now. Where there are hundreds, those are left out that nobody has used for some time, unless
  /// somebody isolated them.
  public var statuses: [BreakerScope: BreakerStatus] {
    circuits.withLock { $0.all }.reduce(into: [:]) { $0[$1.scope] = $1.status }
  }

  /// What one circuit does now; closed when it has never been used.
  public func status(of scope: BreakerScope) -> BreakerStatus {
    circuits.withLock { $0.circuit(Key(scope)) }?.status ?? .closed
  }

  /// Refuses all calls of a circuit until it is ``reset(_:at:)``, for example while a server is being replaced.
  public func isolate(_ scope: BreakerScope) {
    change(scope) { $0.isolate() }
  }

  /// Closes a circuit, whatever it was, and forgets what it knew.
  ///
  /// - Parameters:
  ///   - scope: whose circuit.
  ///   - now: the present instant of the clients' clock. Default: the system's.
  public func reset(_ scope: BreakerScope, at now: MonotonicInstant = SystemClock().now) {
    change(scope) { $0.reset(at: now) }
  }

  /// Passes the message on, unless its circuit is open.
  ///
  /// - Throws: ``TransportError`` with a ``BreakerRejection`` as its cause, which becomes `declined`; nothing is sent
  ///   then.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let pass = try admit(request, context) else { return try await next(request, context: context) }
    let response: ResponseMessage
    do {
      response = try await next(request, context: context)
    } catch {
      end(pass, BreakerState.Outcome(error, pass, policy, context), context)
      throw error
    }
    observe(response, pass, context)
    return response
  }

  // MARK: Calls

  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
  private func admit(_ request: RequestMessage, _ context: CallContext) throws -> BreakerPass? {
    guard context.delivery != .described, !context.values[SharedWorkKey.self],
      let circuit = circuit(of: request, context)
    else { return nil }
    let now = context.now
    switch circuit.state.withLock({ $0.admit(at: now) }) {
    case .pass(let permit):
      if permit.isProbe {
        context.record(.note("circuit lets this call through to see, attempt", Int64(context.attempt)))
        tell(circuit.scope, .halfOpen)
      }
      return BreakerPass(circuit: circuit, permit: permit, begin: now)
    case .refuse(let time):
      context.record(.note("circuit is open, for ms", time?.milliseconds ?? 0))
      throw BreakerRejection(circuit.scope, retryAfter: time).error
    }
  }

  private func observe(_ response: ResponseMessage, _ pass: BreakerPass, _ context: CallContext) {
    let outcome = BreakerState.Outcome(response, policy)
    // Content in memory is over, and needs no closure to be made.
    guard outcome == .answered, !pass.permit.isProbe, response.content.bytes == nil else {
      return end(pass, outcome, context)
    }
    response.content.onEnd { [self] end in
      switch end {
      case .finished, .discarded: self.end(pass, .answered, context)
      case .failed(let error):
        let outcome = BreakerState.Outcome(error, pass, policy, context)
        // The head had come: a reader that went away says no less.
        self.end(pass, outcome == .nothing ? .answered : outcome, context)
      }
    }
  }

  private func end(_ pass: BreakerPass, _ outcome: BreakerState.Outcome, _ context: CallContext) {
    let now = context.now
    var jitter = 0.0
    if case .failed = outcome { jitter = Double(context.random() >> 11) * 0x1p-53 }
    let change = pass.circuit.state.withLock { [jitter] in $0.end(pass.permit, outcome, now: now, jitter: jitter) }
    switch change {
    case .opened(let time)?: context.record(.note("circuit opened, for ms", time.milliseconds))
    case .closed?: context.record(.note("circuit closed, attempt", Int64(context.attempt)))
    case nil: return
    }
    tell(pass.circuit.scope, pass.circuit.status)
  }

  // MARK: Circuits

  private func circuit(of request: RequestMessage, _ context: CallContext) -> Circuit? {
    guard let key = Key(request.head, context.values[BreakerUseKey.self]) else { return nil }
    return circuits.withLock { circuits in
      if let circuit = circuits.circuit(key) { return circuit }
      guard let origin = request.origin else { return nil }
      let circuit = Circuit(scope: BreakerScope(origin, group: key.group), policy)
      circuits.insert(circuit, key, at: context.now)
      return circuit
    }
  }

  private func change(_ scope: BreakerScope, _ change: (inout BreakerState) -> Void) {
    let key = Key(scope)
    let circuit = circuits.withLock { circuits in
      if let circuit = circuits.circuit(key) { return circuit }
      let circuit = Circuit(scope: scope, policy)
      circuits.insert(circuit, key, at: nil)
      return circuit
    }
    circuit.state.withLock { change(&$0) }
    tell(scope, circuit.status)
  }

  private func tell(_ scope: BreakerScope, _ status: BreakerStatus) {
    onChange?(BreakerChange(scope, status))
  }
}

extension CircuitBreaker.Key {
  init(_ scope: BreakerScope) {
    self.init(origin: OriginKey(scope.origin), group: scope.group)
  }

  init?(_ head: HTTPRequest, _ use: BreakerUse) {
    guard let origin = OriginKey(head) else { return nil }
    switch use {
    case .origin: self.init(origin: origin, group: nil)
    case .group(let group): self.init(origin: origin, group: group)
    case .none: return nil
    }
  }
}
