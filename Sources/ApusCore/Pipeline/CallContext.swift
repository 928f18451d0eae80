public import HTTPTypes

/// A call as middlewares see it, passed along the pipeline.
///
/// A value: a middleware changes its copy, and hands that to `next`. What is not about one pass through the pipeline is in
/// ``call``.
public struct CallContext: Sendable {
  let base: Call
  /// The settings of the call, by key.
  public var values: ContextValues
  /// When the call is over, unless content has moved since the attempt began and `endsLater` is set.
  private var end: MonotonicInstant?
  /// Whether `end` comes from a limit that does not count time in which content moves.
  private var endsLater = false
  /// The instant by which the response head of this attempt must have arrived, see ``limitAttempt(to:)``; `nil`: the
  /// attempt has no limit of its own, or the call is over before.
  public private(set) var attemptDeadline: MonotonicInstant?
  /// Whether an outer middleware follows redirects. Their content is then not collected (``ExchangeContext/follows(_:)``).
  package var followsRedirects = false
  /// Whether an outer middleware handles 401 before the content is read. That content is then not collected.
  package var answersChallenges = false
  /// Whether another attempt may follow this one if no response head arrives in time, so that it makes sense to limit this
  /// attempt and to keep time for the next. Set by the middleware that retries. Default: `false`.
  package var leavesTimeForRetry = false
  /// Whether several calls share the work, so that the end of one of them does not end it.
  private(set) var isShared = false
  /// The number of the attempt that this pass belongs to, from 1.
  public var attempt: Int = 1 {
    didSet { if endsLater { end = base.snapshot { $0.limits.end(at: now) } } }
  }

  init(of call: Call) {
    base = call
    values = call.options.values
  }

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

  /// The context of work that several calls share: no single call's deadline binds it.
  func shared() -> CallContext {
    var copy = self
    (copy.end, copy.attemptDeadline, copy.endsLater) = (nil, nil, false)
    copy.isShared = true
    return copy
  }

  // MARK: The call and its surroundings

  /// The call: id, tags, endpoint, phase, trace. For work that several calls share, the call that started it.
  public var call: CallEntry { base.entry }
  /// How the app wants the content.
  public var delivery: ContentDelivery { base.delivery }
  /// The environment that the call was made in. It stays the same when the client switches.
  public var environment: Environment { base.environment }
  /// The most bytes of content that the call keeps in memory.
  public var contentLimit: Int { base.contentLimit }
  /// The client's clock.
  public var clock: any MonotonicClock { base.runtime.clock }
  /// The present instant of the client's clock.
  public var now: MonotonicInstant { base.runtime.clock.now }

  /// Returns 64 bits of the client's source of randomness.
  public func random() -> UInt64 { base.runtime.random() }

  /// How query parameters of the call are written.
  package var queryStyle: QueryStyle { base.coding.effectiveQuery }

  /// Writes an event into the call's trace.
  public func record(_ kind: TraceEvent.Kind) {
    base.record(kind, attempt: attempt)
  }

  /// Starts work that outlives the call and serves other calls too, on the client's executor. The task inherits nothing of
  /// the call and is not cancelled with it.
  @discardableResult
  package func spawnDetached(_ work: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
    base.host.spawner.spawnDetached(work)
  }

  /// Reports how many bytes of content a middleware has read in place of the app.
  package func received(_ count: Int) {
    base.received(count)
  }

  /// Throws if the exchange must not begin.
  ///
  /// The call is asked besides the task: until it has suspended for the first time, the task may run inside the caller's
  /// and learns of a cancellation only afterwards.
  func checkCancellation() throws {
    try Task.checkCancellation()
    if !isShared { try base.checkCancellation() }
  }

  // MARK: Deadlines: instants of the client's clock, which everything that waits obeys

  /// The instant at which the call ends with a timeout; content obeys it too. `nil`: no deadline.
  ///
  /// The default limit of a call is no deadline: its end is not known in advance.
  public var deadline: MonotonicInstant? { endsLater ? base.snapshot(\.limits.deadline) : end }

  /// The instant up to which waiting before an exchange makes sense: the nearest of ``attemptDeadline``, ``deadline`` and the
  /// end of the call's default limit, as it was when the attempt began. `nil`: no limit.
  public var nearestDeadline: MonotonicInstant? { attemptDeadline ?? end }

  /// The time that the call has left if no content moves from now on. Not positive once any of its limits has passed; `nil`:
  /// no limit.
  public var remaining: Duration? {
    guard let end else { return nil }
    return endsLater ? base.remaining(at: now) : now.duration(to: end)
  }

  /// ``nearestDeadline`` as it is now: content may have moved since the attempt began.
  var presentEnd: MonotonicInstant? {
    attemptDeadline ?? (endsLater ? base.snapshot { $0.limits.end(at: now) } : end)
  }

  /// Whether the time of this attempt is up.
  package var isAttemptOver: Bool { attemptDeadline.map { $0 <= now } ?? false }

  /// Ends the call with a timeout at `instant`, unless it has ended before.
  ///
  /// An earlier deadline stays in force. The deadline covers everything: waiting, exchanges, content. An instant more than
  /// a hundred years away sets no limit.
  public mutating func limit(to instant: MonotonicInstant) {
    guard base.startInstant.duration(to: instant) < .endless else { return }
    base.setDeadline(instant)
    // An outer middleware may have set the default limit: the nearer of both counts for what waits.
    if let end, end <= instant { return }
    (end, endsLater) = (instant, false)
    if let attemptDeadline, attemptDeadline >= instant { self.attemptDeadline = nil }
  }

  /// Sets the default limit of the call, which does not count time in which content moves.
  ///
  /// Queues, connecting, waiting for the response head and delays between attempts count. While request or response
  /// content moves, the limit pauses; the call then ends after 20 seconds without a byte
  /// (``ExchangeTimeouts/stall``), or below 1 KiB/s over 60 seconds. It continues with the time that was left when the
  /// request has been sent, and before another attempt or redirect. It no longer applies once the app reads a streamed
  /// response. A limit of a hundred years or more is none. Only the first call of this method has an effect.
  ///
  /// - Parameter limit: the time from the start of the call.
  package mutating func limitUntilContentMoves(_ limit: Duration) {
    guard limit < .endless else { return }
    let stall = values[ExchangeTimeouts.self].stall ?? CallTimeLimit.standardStall
    base.setDefaultLimit(CallTimeLimit(limit, stall: stall, since: base.startInstant))
    let instant = base.startInstant.advanced(by: limit)
    if let end, end <= instant { return }
    (end, endsLater) = (instant, true)
    if let attemptDeadline, attemptDeadline >= instant { self.attemptDeadline = nil }
  }

  /// Fails the attempt at `instant`, unless its response head has arrived by then.
  ///
  /// An attempt runs in the task of its call and cannot be cancelled apart from it. So the limit cancels nothing: it is
  /// ``attemptDeadline``, and transports and middlewares that wait throw
  /// ``TransportError/attemptTimedOut(in:requestState:)`` themselves, after which the call can retry. The limit covers
  /// every redirect of the attempt, and no content. An earlier limit stays in force, and so does an earlier end of the call.
  public mutating func limitAttempt(to instant: MonotonicInstant) {
    if let nearest = nearestDeadline, nearest <= instant { return }
    attemptDeadline = instant
  }

  /// Notifies `target` when the time of this attempt is up, by the client's clock.
  ///
  /// For middlewares that wait for something that knows no time. It costs no task. The target is retained until it is
  /// notified or the alarm is cancelled. If the time is up already, the target is notified at once, on another thread.
  ///
  /// - Returns: `nil` if the attempt has no limit of its own; the target is never notified then.
  public func alarm(for target: any DeadlineTarget) -> DeadlineAlarm? {
    attemptDeadline.map { base.alarm(for: target, at: $0) }
  }

  /// Runs work whose calls, of any client, end at the ``nearestDeadline`` of this call at the latest.
  ///
  /// For a middleware that makes calls with a client of its own; the calls of ``client`` do so anyway.
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
  /// Whether sending a message of this call more than once is safe: by its method, unless the endpoint declares otherwise
  /// (`IdempotenceKey`), or because it carries an idempotency key. Whether its content can be sent again is another
  /// question.
  ///
  /// - Parameter head: the head as it is sent. A redirect may have removed the key.
  public func isRepeatable(_ head: HTTPRequest) -> Bool {
    (values[IdempotenceKey.self] ?? head.method.isIdempotent) || hasIdempotencyKey(head)
  }

  /// Whether a message carries an idempotency key: in the field `Idempotency-Key`, or in the field that the call names
  /// (`IdempotencyFieldKey`).
  package func hasIdempotencyKey(_ head: HTTPRequest) -> Bool {
    if let name = Self.standardKey, head.headerFields.contains(name) { return true }
    guard let name = values[IdempotencyFieldKey.self].flatMap({ HTTPField.Name($0) }) else { return false }
    return head.headerFields.contains(name)
  }

  /// Whether a response is a redirect that an outer middleware follows.
  package func follows(_ head: HTTPResponse) -> Bool {
    followsRedirects && ResponseMessage.isRedirect(head)
  }

  /// What the call has sent in this attempt, redirects included. Messages that failed before they were sent, and messages
  /// that were answered with 401, have had no effect and do not count.
  package var sentMessages: SentMessages { base.snapshot(\.sentMessages) }

  private static let standardKey = HTTPField.Name("Idempotency-Key")
}
