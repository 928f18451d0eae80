public import HTTPTypes

/// What middlewares and transports know of the call they work for: a value, passed along the pipeline.
public struct CallContext: Sendable {
  /// How the app wants the content.
  public enum Delivery: Sendable, Hashable {
    /// Complete, in memory.
    case buffered
    /// Piece by piece.
    case streamed
    /// Not at all: the message is only shown, nothing may be sent, stored or counted.
    case described
  }

  let call: Call
  /// Settings of this call, by key.
  public var values: ContextValues
  /// How the app wants the content.
  public let delivery: Delivery
  /// When the call is over, unless content has moved since the attempt began and `endsLater` is set.
  var end: MonotonicInstant?
  /// The instant by which the head of the present attempt's answer must be there, see ``limitAttempt(to:)``. `nil`: no
  /// limit of its own, or the call is over before.
  public internal(set) var attemptDeadline: MonotonicInstant?
  /// Whether a middleware further out follows redirects, see ``follows(_:)``.
  public var followsRedirects = false
  /// Whether another attempt may follow the present one when that gets no answer in time, so that it makes sense to
  /// limit this one and to keep time for the other.
  ///
  /// What makes attempts sets it, and what limits them reads it. Default: `false`.
  public var leavesTimeForRetry = false
  /// Whether a middleware further out judges refusals of credentials (status 401) before their content is read: such
  /// content is not collected for it, see ``collects(_:)``.
  public var answersChallenges = false
  /// Whether other calls wait for this exchange, too, so that the end of this one does not end it.
  var isShared = false
  /// Whether `end` comes from a limit that does not count time in which content moves.
  var endsLater = false
  /// The attempt this pass belongs to, from 1.
  public var attempt: Int = 1 {
    didSet { if endsLater { end = call.snapshot { $0.limits.end(at: now) } } }
  }

  /// The call's id.
  public var id: CallID { call.id }
  /// The call's tags.
  public var tags: [Tag] { call.options.tags }
  /// The endpoint: its type or its method and path template.
  public var endpoint: EndpointIdentity { call.endpoint }
  /// The environment this call was made in; it stays the same when the client switches.
  public var environment: Environment { call.environment }
  /// The caller's own time limit for the whole call, when it set one; a hundred years or more: it wants none.
  public var timeout: Duration? { call.options.timeout }
  /// The instant the call began.
  public var startInstant: MonotonicInstant { call.startInstant }
  /// The present instant of the client's clock.
  public var now: MonotonicInstant { call.runtime.clock.now }
  /// What the call does now, as its trace tells: while it is `preparing` or `waiting` no exchange is under way. What
  /// ends a call early does not change it. Where calls share an exchange it is that of the one that began it,
  /// and stays what it was when that one ended.
  public var phase: CallPhase { call.snapshot(\.phase) }
  /// The client's clock.
  public var clock: any MonotonicClock { call.runtime.clock }
  /// 64 bits from the client's source of randomness.
  public func random() -> UInt64 { call.runtime.random() }
  /// The most bytes of content that are taken into memory.
  public var contentLimit: Int { call.contentLimit }

  /// How query parameters of this call are written.
  public var queryStyle: QueryStyle { call.coding.effectiveQuery }

  /// Writes an event into the call's trace.
  public func record(_ kind: TraceEvent.Kind) {
    call.record(kind, attempt: attempt)
  }

  /// Tells how many bytes of the request's content have left so far; for transports.
  public func sent(total: Int64, expected: Int64?) {
    call.sent(total: total, expected: expected)
  }

  /// Starts work beside the exchange, where the client runs all its tasks: content that is made while it is sent.
  ///
  /// The work inherits priority and task-local values, and no actor. It is not cancelled with the call: whoever
  /// starts it ends it with the exchange.
  @discardableResult
  public func spawn(_ work: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
    call.client.spawner.spawn(work)
  }

  /// Starts work that outlives the call and serves others, too, where the client runs all its tasks: it inherits
  /// nothing of whoever happened to need it first, and is not cancelled with it.
  @discardableResult
  public func spawnDetached(_ work: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
    call.client.spawner.spawnDetached(work)
  }

  /// The client that the call is made with, in the call's environment: for calls that a middleware makes by itself, as
  /// one that fetches a key. They have limits, a trace and an entry in the registry of their own, and end at the
  /// ``nearestDeadline`` of this call at the latest. Made where this call has its turn already, they wait for one of
  /// their own, which others may hold that wait for the same: mark them with ``SharedWorkKey`` there.
  public var client: Client { Client(of: call, until: presentEnd) }

  /// The same for calls that serve others, too, as one that fetches a token: no single call's deadline binds them,
  /// and of `withDeadline` only what begins after this.
  public var sharedClient: Client { Client(sharedOf: call) }

  /// Throws when the exchange is not to begin.
  ///
  /// The call itself is asked besides the task: as long as nothing has been waited for, the task may run inside of the
  /// caller's, and hears of what ends the call only afterwards.
  func checkCancellation() throws {
    try Task.checkCancellation()
    if !isShared { try call.checkCancellation() }
  }

  /// Takes over the failed attempts of the call whose exchange this one shares, also those that failed when it had
  /// ended.
  func takeAttempts(of leader: Call) {
    for attempt in leader.failedAttempts { call.record(.attemptFailed(attempt), attempt: attempt.attempt) }
  }

  func keep(_ message: RequestMessage) {
    call.keep(message)
  }

  /// Tells that the head of the answer is there; for transports that collect the content themselves, see
  /// ``ResponseContent/init(collected:trailers:)``. What they return otherwise is reported for them.
  public func headArrived(_ head: HTTPResponse) {
    call.headArrived(head, attempt: attempt)
  }

  /// Tells how many bytes of the answer's content have arrived since it was told last; for transports that collect
  /// the content themselves.
  public func received(_ count: Int) {
    call.received(count)
  }

  /// The same call seen from work that several calls share: no single caller's deadline binds it.
  func shared(by sharers: Sharers) -> CallContext {
    var copy = self
    (copy.end, copy.attemptDeadline, copy.endsLater) = (nil, nil, false)
    copy.isShared = true
    copy.values[SharersKey.self] = sharers
    return copy
  }
}
