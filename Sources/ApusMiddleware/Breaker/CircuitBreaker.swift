public import ApusCore
import HTTPTypes
import Synchronization

/// Stops sending to an endpoint or a server that keeps failing: calls are refused at once, which spares the app the wait
/// and the server the load, until a trial request shows that it works again.
///
/// Each endpoint, by its method and path template, has a circuit of its own, and so has each origin, so that an endpoint
/// that fails takes no other down with it. A group of endpoints (`.breaker(.group("search"))`) has one in their place.
///
/// - *Unreachable* counts for the origin: no address, connection refused, TLS, connect timeout.
/// - *Failed* counts for the endpoint: 500, 502, 503 and 504, a connection that broke off, and a timeout waiting for the
///   head or for more content, after ``BreakerPolicy/patience``. Gateway errors (502, 503, 504) and timeouts count for
///   the origin, too.
/// - *Nothing* counts for neither: a call that was cancelled or refused on this side, one that found no network or waited
///   for the transport's own pool, and one at which something else failed than the server, such as its content or a
///   refresh that it needed (``ApusCore/TransportError/subject``).
/// - Anything else is *answered*, and counts for both.
///
/// - The circuit of an endpoint opens by a ratio of failures, or after gateway errors in a row; that of an origin after
///   so many unreachable exchanges in a row, or gateway errors or timeouts in a row from at least three endpoints. Any
///   response ends the first of these runs, an answered exchange both.
/// - An open circuit becomes half-open when its time is over: one trial request passes, and the others are refused until
///   its head is there. Of an origin it may be any endpoint's. When the circuit of an origin closes, those of endpoints
///   that opened since its first failure become half-open.
/// - `Retry-After` of a 503 sets the time of the circuit that opens by it.
/// - An exchange counts when its content is complete; the result of one that began before a circuit changed does not
///   count for that circuit.
/// - At most 256 endpoints and groups of an origin have a circuit; calls of others count for the origin only.
/// - Calls that do work for many others, such as fetching a token (``SharedWorkKey``), pass and are not counted.
///
/// The breaker stands inside retry, so that every attempt is counted, and outside of redirects, so that a call counts for
/// the origin it was meant for. Use one for several clients to have them share what they know: then endpoints with the
/// same method and template below one origin share a circuit, whatever the clients' base paths.
public final class CircuitBreaker: Middleware {
  let policy: BreakerPolicy
  private let onChange: (@Sendable (BreakerChange) -> Void)?
  private let circuits = Mutex(Circuits())

  /// Makes a breaker whose circuits are all closed.
  ///
  /// - Parameters:
  ///   - policy: when circuits open, and for how long. Default: ``BreakerPolicy/interactive``.
  ///   - onChange: called when a circuit opens, becomes half-open or closes; from any thread. Default: `nil`.
  public init(_ policy: BreakerPolicy = .interactive, onChange: (@Sendable (BreakerChange) -> Void)? = nil) {
    self.policy = policy
    self.onChange = onChange
  }

  /// The state of every circuit in use: those of origins, endpoints and groups. Where there are hundreds, those that have
  /// not been used for some time are left out, unless they are isolated.
  public var statuses: [BreakerScope: BreakerStatus] {
    var statuses: [BreakerScope: BreakerStatus] = [:]
    for circuits in circuits.withLock({ $0.all }) {
      for circuit in circuits.state.withLock({ $0.statuses }) {
        statuses[BreakerScope(circuits.origin, circuit.part)] = circuit.status
      }
    }
    return statuses
  }

  /// Returns the state of one circuit; closed when it has never been used.
  public func status(of scope: BreakerScope) -> BreakerStatus {
    let circuits = circuits.withLock { $0.circuits(OriginKey(scope.origin)) }
    return circuits?.state.withLock { $0.status(of: scope.part) } ?? .closed
  }

  /// Refuses all calls of a circuit until it is ``reset(_:at:)``, for example while a server is being replaced.
  public func isolate(_ scope: BreakerScope) {
    change(scope) { $0.isolate(scope.part, at: SystemClock().now) }
  }

  /// Closes a circuit in whatever state, and forgets what it knew. With the circuit of an origin those of its endpoints
  /// and groups close too, but for those that are isolated.
  ///
  /// - Parameters:
  ///   - scope: whose circuit.
  ///   - now: the present instant of the clients' clock. Default: the system's.
  public func reset(_ scope: BreakerScope, at now: MonotonicInstant = SystemClock().now) {
    change(scope) { $0.reset(scope.part, at: now) }
  }

  /// Passes the message on, unless a circuit of its call is open.
  ///
  /// - Throws: ``TransportError`` with a ``BreakerRejection`` as its cause, which becomes `declined`; nothing is sent
  ///   then.
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

  /// One call on its way through the circuits.
  private struct Pass {
    let circuits: OriginCircuits
    var permit: BreakerState.Permit
    let start: MonotonicInstant
  }

  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
  private func admit(_ request: RequestMessage, _ context: CallContext) throws -> Pass? {
    guard context.delivery != .described, !context.values[SharedWorkKey.self],
      let part = BreakerPart(context.values[BreakerUseKey.self], request, context),
      let circuits = circuits(of: request, context)
    else { return nil }
    let now = context.now
    switch circuits.state.withLock({ $0.admit(part, at: now) }) {
    case .pass(let permit, let changes):
      if permit.isTrial {
        context.record(.note("circuit lets this call through to see, attempt", Int64(context.attempt)))
        tell(changes, of: circuits.origin)
      }
      return Pass(circuits: circuits, permit: permit, start: now)
    case .refuse(let refusal):
      context.record(.note("circuit is open, for ms", refusal.delay?.milliseconds ?? 0))
      let scope = BreakerScope(circuits.origin, refusal.part)
      throw BreakerRejection(scope, retryAfter: refusal.delay, failure: refusal.cause).error
    }
  }

  @inline(never)  // As above, here and below.
  private func failed(_ error: any Error, _ pass: Pass, _ context: CallContext) {
    end(pass, BreakerOutcome(error, since: pass.start, policy, context), context)
  }

  @inline(never)
  private func observe(_ response: ResponseMessage, _ pass: Pass, _ context: CallContext) {
    let outcome = BreakerOutcome(response, policy)
    // Content in memory is over, and needs no closure to be made.
    guard outcome == .answered, !pass.permit.isTrial, response.content.bytes == nil else {
      return end(pass, outcome, context)
    }
    var pass = pass
    pass.circuits.state.withLock { $0.responded(&pass.permit) }
    response.content.onEnd { [self, pass] end in
      switch end {
      case .finished, .discarded: self.end(pass, .answered, context)
      case .failed(let error):
        let outcome = BreakerOutcome(error, since: pass.start, policy, context)
        // The head had come: a reader that went away says no less.
        self.end(pass, outcome == .nothing ? .answered : outcome, context)
      }
    }
  }

  private func end(_ pass: Pass, _ outcome: BreakerOutcome, _ context: CallContext) {
    let now = context.now
    var jitter = 0.0
    switch outcome {
    case .failed, .unreachable: jitter = Double(context.random() >> 11) * 0x1p-53
    case .answered, .nothing: break
    }
    let changes = pass.circuits.state.withLock { [jitter] in $0.end(pass.permit, outcome, at: now, jitter: jitter) }
    guard !changes.isEmpty else { return }
    for change in changes {
      switch change.status {
      case .open(let until): context.record(.note("circuit opened, for ms", now.duration(to: until).milliseconds))
      case .closed: context.record(.note("circuit closed, attempt", Int64(context.attempt)))
      case .halfOpen, .isolated: break
      }
    }
    tell(changes, of: pass.circuits.origin)
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

  private func tell(_ changes: [BreakerState.Change], of origin: Origin) {
    guard let onChange else { return }
    for change in changes { onChange(BreakerChange(BreakerScope(origin, change.part), change.status)) }
  }
}

extension BreakerPart {
  /// What a call counts for; `nil`: nothing.
  fileprivate init?(_ use: BreakerUse, _ request: RequestMessage, _ context: CallContext) {
    switch use {
    case .endpoint:
      let endpoint = context.call.endpoint
      if Self.tellsEndpointsApart(endpoint.template) {
        self = .endpoint(method: endpoint.method.rawValue, template: endpoint.template)
      } else {
        // Each path is an endpoint of its own, as far as anybody can tell.
        self = .other(String(request.target.prefix { $0 != "?" }))
      }
    case .group(let name): self = .group(name)
    case .origin: self = .other(context.call.endpoint.template)
    case .none: return nil
    }
  }

  /// Whether a template holds any text, or a named value, beside slashes and values.
  private static func tellsEndpointsApart(_ template: String) -> Bool {
    template.utf8.contains { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "}") }
  }
}
