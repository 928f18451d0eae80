public import ApusCore
import HTTPTypes
import Synchronization

/// A circuit breaker: refuses calls to an endpoint or an origin that keeps failing, until a trial request succeeds.
///
/// Each endpoint, identified by its method and path template, has its own circuit, and so does each origin: a failing
/// endpoint does not affect other endpoints. A group of endpoints (`.breaker(.group("search"))`) shares one circuit
/// instead.
///
/// Outcomes of an exchange:
/// - *Unreachable* counts toward the circuit of the origin: no address, connection refused, TLS, connect timeout.
/// - *Failed* counts toward the circuit of the endpoint: 500, 502, 503 and 504, a lost connection, and a timeout
///   waiting for the head or for more content, after ``BreakerPolicy/minimumTimeout``. Gateway errors (502, 503, 504)
///   and timeouts also count toward the circuit of the origin.
/// - *Nothing* counts toward neither circuit: a call that was cancelled or refused by the client, found no network,
///   waited for the transport's own pool, or failed for a reason other than the server, such as its content or a
///   refresh that it needed (``TransportError/source``).
/// - Any other outcome is *a response*, and counts toward both circuits.
///
/// Circuits:
/// - The circuit of an endpoint opens at a ratio of failures, or after consecutive gateway errors. The circuit of an
///   origin opens after consecutive unreachable exchanges, or consecutive gateway errors or timeouts from at least
///   three endpoints. Any response ends a run of unreachable exchanges; a successful exchange ends all runs.
/// - An open circuit becomes half-open when its time is over: one trial request passes, and other calls are refused
///   until the head of its response arrives. The trial of an origin may be a request to any of its endpoints. When the
///   circuit of an origin closes, circuits of endpoints that opened since the origin's first failure become half-open.
/// - `Retry-After` of a 503 sets the time for which the circuit stays open.
/// - An exchange is counted when its content is complete. An exchange that began before a circuit changed does not
///   count toward that circuit.
/// - At most 256 endpoints and groups of an origin have a circuit; calls of further endpoints count toward the circuit
///   of the origin only.
/// - Work on which other calls depend, such as fetching a token (``SharedWorkKey``), passes and is not counted.
///
/// The breaker is inside retry, so that every attempt is counted, and outside redirects, so that a call counts toward
/// the circuit of its own URL's origin. Several clients may use one breaker: endpoints with the same method and
/// template at one origin then share a circuit, even if the clients' base paths differ.
public final class CircuitBreaker: Middleware {
  let policy: BreakerPolicy
  private let onChange: (@Sendable (BreakerChange) -> Void)?
  private let circuits = Mutex(Circuits())

  /// Creates a breaker with closed circuits.
  ///
  /// - Parameters:
  ///   - policy: decides when circuits open, and for how long. Default: ``BreakerPolicy/app``.
  ///   - onChange: called when a circuit opens, becomes half-open or closes; from any thread. Default: `nil`.
  public init(_ policy: BreakerPolicy = .app, onChange: (@Sendable (BreakerChange) -> Void)? = nil) {
    self.policy = policy
    self.onChange = onChange
  }

  /// The status of every circuit in use, of origins, endpoints and groups. Beyond a few hundred, idle circuits are
  /// omitted.
  package var statuses: [BreakerScope: BreakerStatus] {
    var statuses: [BreakerScope: BreakerStatus] = [:]
    for circuits in circuits.withLock({ $0.all }) {
      for circuit in circuits.state.withLock({ $0.statuses }) {
        statuses[BreakerScope(circuits.origin, circuit.part)] = circuit.status
      }
    }
    return statuses
  }

  /// Returns the status of a circuit; `closed` if it has never been used.
  package func status(of scope: BreakerScope) -> BreakerStatus {
    let circuits = circuits.withLock { $0.circuits(OriginKey(scope.origin)) }
    return circuits?.state.withLock { $0.status(of: scope.part) } ?? .closed
  }

  /// Closes a circuit and discards its counts. If it is the circuit of an origin, the circuits of its endpoints and
  /// groups close too.
  ///
  /// - Parameters:
  ///   - scope: the subject of the circuit.
  ///   - now: the current instant of the clients' clock. Default: the current instant of the system clock.
  public func reset(_ scope: BreakerScope, at now: MonotonicInstant = SystemClock().now) {
    change(scope) { $0.reset(scope.part, at: now) }
  }

  /// Passes the request on, unless a circuit of its call is open.
  ///
  /// - Throws: ``TransportError`` with a ``BreakerRefusal`` as its cause; its code is `refused`, and nothing is
  ///   sent.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let pass = try admit(request, context) else { return try await next(request, context: context) }
    let response: ResponseMessage
    do {
      response = try await next(request, context: context)
    } catch {
      failed(error, pass, context)
      throw error
    }
    observe(response, pass, context)
    return response
  }

  // MARK: Calls

  /// An exchange that was admitted by its circuits.
  private struct Pass {
    let circuits: OriginCircuits
    var permit: BreakerState.Permit
    let start: MonotonicInstant
  }

  private func admit(_ request: RequestMessage, _ context: CallContext) throws -> Pass? {
    guard context.delivery != .described, !context.values[SharedWorkKey.self],
      let part = BreakerPart(context.values[BreakerUseKey.self], request, context),
      let circuits = circuits(of: request, context)
    else { return nil }
    let now = context.now
    switch circuits.state.withLock({ $0.admit(part, at: now) }) {
    case .pass(let permit, let changes):
      if permit.isTrial {
        context.record(.note("trial request of a half-open circuit, attempt", Int64(context.attempt)))
        notify(changes, of: circuits.origin)
      }
      return Pass(circuits: circuits, permit: permit, start: now)
    case .refuse(let refusal):
      context.record(.note("circuit is open, for ms", refusal.delay?.milliseconds ?? 0))
      let scope = BreakerScope(circuits.origin, refusal.part)
      throw BreakerRefusal(scope, retryAfter: refusal.delay, failure: refusal.cause).error
    }
  }

  private func failed(_ error: any Error, _ pass: Pass, _ context: CallContext) {
    end(pass, BreakerOutcome(error, since: pass.start, policy, context), context)
  }

  private func observe(_ response: ResponseMessage, _ pass: Pass, _ context: CallContext) {
    let outcome = BreakerOutcome(response)
    // Content in memory has already ended, so no closure needs to be allocated.
    guard outcome == .responded, !pass.permit.isTrial, response.content.bytes == nil else {
      return end(pass, outcome, context)
    }
    var pass = pass
    pass.circuits.state.withLock { $0.responded(&pass.permit) }
    response.content.onEnd { [self, pass] end in
      switch end {
      case .finished, .discarded: self.end(pass, .responded, context)
      case .failed(let error):
        let outcome = BreakerOutcome(error, since: pass.start, policy, context)
        // The head has arrived, so the server responded even if the reader stops reading.
        self.end(pass, outcome == .nothing ? .responded : outcome, context)
      }
    }
  }

  private func end(_ pass: Pass, _ outcome: BreakerOutcome, _ context: CallContext) {
    let now = context.now
    var jitter = 0.0
    switch outcome {
    case .failed, .unreachable: jitter = Double(context.random() >> 11) * 0x1p-53
    case .responded, .nothing: break
    }
    let changes = pass.circuits.state.withLock { [jitter] in $0.end(pass.permit, outcome, at: now, jitter: jitter) }
    guard !changes.isEmpty else { return }
    for change in changes {
      switch change.status {
      case .open(let until): context.record(.note("circuit opened, for ms", now.duration(to: until).milliseconds))
      case .closed: context.record(.note("circuit closed, attempt", Int64(context.attempt)))
      case .halfOpen: break
      }
    }
    notify(changes, of: pass.circuits.origin)
  }

  // MARK: Circuits

  private func circuits(of request: RequestMessage, _ context: CallContext) -> OriginCircuits? {
    guard let key = OriginKey(request.head) else { return nil }
    return circuits.withLock { circuits in
      if let found = circuits.circuits(key) { return found }
      guard let origin = request.origin else { return nil }
      let made = OriginCircuits(origin, policy)
      circuits.insert(made, key, at: context.now)
      return made
    }
  }

  private func change(_ scope: BreakerScope, _ change: (inout BreakerState) -> Void) {
    let key = OriginKey(scope.origin)
    let circuits = circuits.withLock { circuits in
      if let found = circuits.circuits(key) { return found }
      let made = OriginCircuits(scope.origin, policy)
      circuits.insert(made, key, at: nil)
      return made
    }
    let status = circuits.state.withLock { state in
      change(&state)
      return state.status(of: scope.part)
    }
    onChange?(BreakerChange(scope, status))
  }

  private func notify(_ changes: [BreakerState.Change], of origin: Origin) {
    guard let onChange else { return }
    for change in changes { onChange(BreakerChange(BreakerScope(origin, change.part), change.status)) }
  }
}

extension BreakerPart {
  /// Creates the part whose circuit records the call's outcome; `nil` if no circuit records the outcome.
  fileprivate init?(_ grouping: BreakerGrouping, _ request: RequestMessage, _ context: CallContext) {
    switch grouping {
    case .endpoint:
      let endpoint = context.endpoint
      if Self.identifiesEndpoint(endpoint.template) {
        self = .endpoint(method: endpoint.method.rawValue, template: endpoint.template)
      } else {
        // Each path counts as an endpoint in runs of failures.
        self = .other(String(request.target.prefix { $0 != "?" }))
      }
    case .group(let name): self = .group(name)
    case .origin: self = .other(context.endpoint.template)
    case .none: return nil
    }
  }

  /// Whether a template contains text or a named value besides slashes and placeholders.
  private static func identifiesEndpoint(_ template: String) -> Bool {
    template.utf8.contains { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "}") }
  }
}

extension CircuitBreaker: SelfDescribing {
  /// The policy for `describe()`.
  package var facts: [Fact] {
    [
      .failureRatio(policy.failureRatio, minimum: max(1, policy.minimumExchanges), window: policy.window),
      .consecutiveFailures(max(1, policy.consecutiveFailures)),
      .setting("a circuit per endpoint and per origin", ""),
      .time("open for", policy.openDuration), .time("up to", policy.maximumOpenDuration),
    ]
  }
}

/// The circuits of one origin, shared by the calls to it.
private final class OriginCircuits: Sendable {
  let origin: Origin
  let state: Mutex<BreakerState>

  init(_ origin: Origin, _ policy: BreakerPolicy) {
    self.origin = origin
    state = Mutex(BreakerState(policy))
  }
}

/// The circuits of a breaker, by origin. Idle origins are removed when there are many origins.
private struct Circuits {
  /// The number of origins up to which idle origins are not removed.
  private static let fewest = 256

  private var origins: [OriginKey: OriginCircuits] = [:]
  /// The origin of the latest call. The next call usually goes to the same origin and then needs no lookup.
  private var last: (key: OriginKey, circuits: OriginCircuits)?
  /// The number of origins at which idle origins are removed. It doubles, so adding an origin takes amortized constant
  /// time.
  private var sweepCount = fewest

  var all: [OriginCircuits] { Array(origins.values) }

  mutating func circuits(_ key: OriginKey) -> OriginCircuits? {
    if let last, last.key == key { return last.circuits }
    guard let circuits = origins[key] else { return nil }
    last = (key, circuits)
    return circuits
  }

  /// Adds the circuits of an origin.
  ///
  /// - Parameter now: the current instant. If it is `nil`, no origin is removed.
  mutating func insert(_ circuits: OriginCircuits, _ key: OriginKey, at now: MonotonicInstant?) {
    if let now, origins.count >= sweepCount {
      last = nil
      origins = origins.filter { !$0.value.state.withLock { $0.isIdle(at: now) } }
      sweepCount = max(Self.fewest, origins.count * 2)
    }
    origins[key] = circuits
  }
}
