public import HTTPTypes

/// What middlewares and transports know of the call they work for: a value, passed along the pipeline.
public struct CallContext: Sendable {
  let call: Call
  /// Settings of this call, by key.
  public var values: ContextValues
  /// How the app wants the content.
  public let delivery: ContentDelivery
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

  init(of call: Call) {
    self.call = call
    values = call.options.values
    delivery = call.delivery
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
    call.host.spawner.spawn(work)
  }

  /// Starts work that outlives the call and serves others, too, where the client runs all its tasks: it inherits
  /// nothing of whoever happened to need it first, and is not cancelled with it.
  @discardableResult
  public func spawnDetached(_ work: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
    call.host.spawner.spawnDetached(work)
  }

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
}

/// When a call, or one attempt of it, is over: instants of the client's clock, which everything that waits obeys.
extension CallContext {
  /// The instant after which the call must not go on; content obeys it too. `nil`: no such limit.
  ///
  /// The default limit of a call (``limitUntilContentMoves(_:)``) is none: when that ends the call is not known before.
  public var deadline: MonotonicInstant? { endsLater ? call.snapshot(\.limits.deadline) : end }

  /// When it makes no sense any more to wait ahead of an exchange: the nearest of ``attemptDeadline``, ``deadline`` and
  /// the end of the call's default limit, as it was when the attempt began. `nil`: no limit.
  public var nearestDeadline: MonotonicInstant? { attemptDeadline ?? end }

  /// How much time the call has left if no content moves from now on; not positive once its time is up, whichever of
  /// its limits was passed. `nil`: no limit.
  public var remaining: Duration? {
    guard let end else { return nil }
    return endsLater ? call.remaining(at: now) : now.duration(to: end)
  }

  /// ``nearestDeadline`` as it is now: content may have moved since the attempt began.
  var presentEnd: MonotonicInstant? {
    attemptDeadline ?? (endsLater ? call.snapshot { $0.limits.end(at: now) } : end)
  }

  /// Whether the time of the present attempt is up.
  public var isAttemptOver: Bool { attemptDeadline.map { $0 <= now } ?? false }

  /// Ends the call with a timeout once the clock reaches `instant`, unless it has ended before.
  ///
  /// An earlier deadline stays in force. The deadline covers everything: waiting, exchanges, content. One that is more
  /// than a hundred years away is none.
  public mutating func limit(to instant: MonotonicInstant) {
    guard startInstant.duration(to: instant) < .endless else { return }
    call.setDeadline(instant)
    // Further out the default limit may have been set: the nearer one counts for what waits.
    if let end, end <= instant { return }
    (end, endsLater) = (instant, false)
    if let attemptDeadline, attemptDeadline >= instant { self.attemptDeadline = nil }
  }

  /// Sets the default limit of the call, which does not count time in which content moves.
  ///
  /// Queues, connecting, waiting for the response head and delays between attempts count. While request or response
  /// content moves, the limit pauses; the call then ends after 20 seconds without a byte
  /// (``ExchangeTimeouts/stall``), or below 1 KiB/s over 60 seconds. It goes on with the time that was left when the
  /// request has been sent, and before another attempt or redirect. It no longer applies once the app reads a streamed
  /// response. A limit of a hundred years or more is none. Only the first call of this method has an effect.
  ///
  /// - Parameter limit: the time from the start of the call.
  public mutating func limitUntilContentMoves(_ limit: Duration) {
    guard limit < .endless else { return }
    let stall = values[ExchangeTimeouts.self].stall ?? CallTimeLimit.standardStall
    call.setLimit(CallTimeLimit(limit, stall: stall, since: startInstant))
    let instant = startInstant.advanced(by: limit)
    if let end, end <= instant { return }
    (end, endsLater) = (instant, true)
    if let attemptDeadline, attemptDeadline >= instant { self.attemptDeadline = nil }
  }

  /// Has whatever works for the present attempt give up at `instant`, unless the head of the answer is there by then.
  ///
  /// An attempt runs in the task of its call and cannot be cancelled apart from it, so this cancels nothing: it is said
  /// in ``attemptDeadline``, and transports and all that waits ahead of them throw
  /// ``TransportError/attemptTimedOut(in:requestState:)`` by themselves. So the call may try again. It counts for every
  /// redirect of the attempt, and says nothing of content. An earlier limit stays in force, and so does an earlier end
  /// of the call.
  public mutating func limitAttempt(to instant: MonotonicInstant) {
    if let nearest = nearestDeadline, nearest <= instant { return }
    attemptDeadline = instant
  }

  /// Has `target` told once the time of the present attempt is up, by the client's clock.
  ///
  /// For transports and middlewares that wait for something that knows no time. It costs no task; `target` is held
  /// until it is told or the alarm is taken back, which whoever sets it does when it need not wait any longer. A time
  /// that is up already is told at once, from another thread.
  ///
  /// - Returns: `nil` where the attempt has no limit of its own: nobody is told then.
  public func alarm(for target: any DeadlineTarget) -> DeadlineAlarm? {
    guard let attemptDeadline else { return nil }
    let timer = call.host.timer
    return DeadlineAlarm(timer, timer.schedule(target, at: attemptDeadline))
  }

  /// Does work whose calls, whatever clients make them, end at the ``nearestDeadline`` of this one at the latest.
  ///
  /// For a middleware that makes calls with a client of its own; those of ``client`` do so anyway.
  ///
  /// - Returns: what `work` returns.
  /// - Throws: what `work` throws.
  public func passingDeadline<Output, Failure: Error>(
    to work: () async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    guard let presentEnd else { return try await work() }
    return try await DeadlineScope.perform(until: Deadline(presentEnd, on: clock), work).get()
  }
}

extension CallContext {
  /// The context that a call enters the pipeline with, under the deadline that it inherits.
  ///
  /// - Throws: ``CallError`` if that deadline has passed: nothing is sent then.
  @inline(never)  // Its temporaries would be kept for as long as the call waits.
  static func entering(with call: Call) throws -> CallContext {
    var context = CallContext(of: call)
    guard let deadline = call.inheritedDeadline else { return context }
    context.limit(to: deadline)
    if deadline <= call.runtime.clock.now {
      call.deadlinePassed()
      try call.checkCancellation()
    }
    return context
  }
}
