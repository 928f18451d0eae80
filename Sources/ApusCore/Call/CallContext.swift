public import HTTPTypes

/// The context of a call in the pipeline, as passed to middlewares.
///
/// A middleware changes its copy and passes it to `next`. The properties that do not belong to a single pass through
/// the pipeline are in ``call``.
public struct CallContext: Sendable {
  /// The call to which the context belongs. For an exchange that several calls share, the call that started it.
  let owner: Call
  /// The settings of the call, by key.
  public var values: ContextValues
  /// The instant at which the call ends. If `endsLater` is set, content transferred since the attempt began moves the
  /// end.
  private var end: MonotonicInstant?
  /// Whether `end` comes from a limit that does not count time during which content is transferred.
  private var endsLater = false
  /// The instant by which the response head of this attempt must have arrived, see ``limitAttempt(to:)``. `nil` if
  /// the attempt has no limit of its own, or if the call ends earlier.
  public private(set) var attemptDeadline: MonotonicInstant?
  /// Whether an outer middleware follows redirects. The content of redirects is then not collected
  /// (``ExchangeContext/followsRedirect(_:)``).
  package var followsRedirects = false
  /// Whether the redirect policy permits a URL that leaves https. Default: `false`, also without redirects.
  package var allowsLeavingHTTPS = false
  /// Whether an outer middleware handles 401 before the content is read. The content of a 401 response is then not
  /// collected.
  package var answersChallenges = false
  /// Whether another attempt may follow if no response head arrives in time, so that this attempt should be limited
  /// to leave time for the next attempt. Set by the retry middleware. Default: `false`.
  package var leavesTimeForRetry = false
  /// Whether the call joins an equal call in flight although its endpoint does not say so, because both validate the
  /// same stored response. Set by a cache. Default: `false`.
  package var joinsValidation = false
  /// Whether several calls share the exchange, so that the end of one call does not end the exchange.
  private(set) var isShared = false
  /// The number of the attempt that this pass belongs to, from 1.
  public var attempt: Int = 1 {
    didSet { if endsLater { end = owner.snapshot { $0.limits.end(at: now) } } }
  }

  init(of call: Call) {
    owner = call
    values = call.options.values
  }

  /// Returns the context with which a call enters the pipeline, with the inherited deadline.
  ///
  /// - Throws: ``CallError`` if the inherited deadline has passed. Nothing is sent then.
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

  /// Returns the context of an exchange that several calls share. The deadline of a single call does not apply to it.
  func shared() -> CallContext {
    var copy = self
    (copy.end, copy.attemptDeadline, copy.endsLater) = (nil, nil, false)
    copy.isShared = true
    return copy
  }

  // MARK: The call and its client

  /// The call: id, tags, endpoint, phase, trace. For an exchange that several calls share, the call that started it.
  public var call: CallEntry { owner.entry }
  /// The way the content (body) of the response is delivered.
  public var delivery: ContentDelivery { owner.delivery }
  /// Whether the request names a complete URL in place of a path below the base URL.
  package var sendsToURL: Bool { owner.sendsToURL }
  /// The environment in which the call was made. It does not change when the client switches to another environment.
  public var environment: Environment { owner.environment }
  /// The maximum number of content bytes that the call reads into memory.
  public var contentLimit: Int { owner.contentLimit }
  /// The client's clock.
  public var clock: any MonotonicClock { owner.runtime.clock }
  /// The current instant of the client's clock.
  public var now: MonotonicInstant { owner.runtime.clock.now }

  /// The client of the call, in the call's environment, for calls that a middleware makes itself, such as fetching a
  /// key.
  ///
  /// Nested calls have their own limits, trace and registry entry, and end no later than the ``nearestDeadline`` of
  /// this call. A nested call needs a permit of its own and can deadlock if all permits are held by calls waiting for
  /// it. Mark such calls with ``SharedWorkKey``.
  public var client: Client { Client(of: owner, until: presentEnd) }

  /// The client of the call for work that other calls share, such as fetching a token. The deadlines of this call and
  /// its task do not apply to calls of that client.
  public var sharedClient: Client { Client(sharedOf: owner) }

  /// Returns 64 random bits from the client's source of randomness.
  public func random() -> UInt64 { owner.runtime.random() }

  /// The tags, endpoint and timeout of ``call``. Every call reads them, so they are available without a ``CallEntry``.
  package var tags: [Tag] { owner.options.tags }
  package var endpoint: EndpointIdentity { owner.endpoint }
  package var timeout: Duration? { owner.options.timeout }

  /// The method of the request as the endpoint describes it.
  package var method: HTTPRequest.Method { owner.request.description.method }

  /// Whether the environment has settings for middlewares, such as credentials.
  package var hasEnvironmentValues: Bool { owner.prepared.hasValues }

  /// The style of the call's query parameters.
  package var queryStyle: QueryStyle { owner.coding.effectiveQuery }

  /// Adds an event to the call's trace.
  public func record(_ kind: TraceEvent.Kind) {
    owner.record(kind, attempt: attempt)
  }

  /// Adds an event that happens at the same time as the last one, which saves reading the clock.
  package func recordWithLast(_ kind: TraceEvent.Kind) {
    owner.recordWithLast(kind, attempt: attempt)
  }

  /// The request of the call, for a call that repeats it in the background: without id, progress and deadline. Its
  /// value is the content of the response, whatever the status.
  package var repeatedRequest: Request<Content> {
    var request = Request<Content>(owner.request, mapping: .content)
    (request.options.id, request.options.duplicatePolicy) = (nil, .allow)
    (request.options.uploadProgress, request.options.downloadProgress) = (nil, nil)
    request.options.timeout = nil
    return request.accepting(.any)
  }

  /// Starts a task on the client's executor, for work that outlives the call and serves other calls too. The task
  /// inherits nothing from the call and is not cancelled with it.
  @discardableResult
  package func spawnDetached(_ work: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
    owner.host.spawner.spawnDetached(work)
  }

  /// Reports the number of content bytes that a middleware has read in place of the app.
  package func received(_ count: Int) {
    owner.received(count)
  }

  /// Throws if the request's URL uses http and was named by an https response, unless the redirect policy permits it.
  ///
  /// The target of a redirect is checked by the middleware that follows it.
  func checkNamedURL() throws(TransportError) {
    if owner.leavesHTTPS, !allowsLeavingHTTPS { throw .leavesHTTPS }
  }

  /// Throws if the exchange must not begin.
  ///
  /// Checks the call as well as the task. Until its first suspension, the task may run inside the caller's task and
  /// does not observe a cancellation.
  func checkCancellation() throws {
    try Task.checkCancellation()
    if !isShared { try owner.checkCancellation() }
  }

  // MARK: Deadlines, as instants of the client's clock

  /// The instant at which the call ends with a timeout, even during content transfer. `nil`: no deadline.
  ///
  /// The default limit of a call is not a deadline, because its end is not known in advance.
  public var deadline: MonotonicInstant? { endsLater ? owner.snapshot(\.limits.deadline) : end }

  /// The instant at which waiting for an exchange must end: the earliest of ``attemptDeadline``, ``deadline`` and the
  /// end of the call's default limit, computed when the attempt began. `nil`: no limit.
  public var nearestDeadline: MonotonicInstant? { attemptDeadline ?? end }

  /// The remaining time of the call if no content is transferred from now on. Zero or negative once a limit has
  /// passed. `nil`: no limit.
  public var remaining: Duration? {
    guard let end else { return nil }
    return endsLater ? owner.remaining(at: now) : now.duration(to: end)
  }

  /// The ``nearestDeadline`` at this moment. Content transferred since the attempt began may have moved it.
  var presentEnd: MonotonicInstant? {
    attemptDeadline ?? (endsLater ? owner.snapshot { $0.limits.end(at: now) } : end)
  }

  /// Whether the deadline of this attempt has passed.
  package var isAttemptOver: Bool { attemptDeadline.map { $0 <= now } ?? false }

  /// Sets a deadline at which the call ends with a timeout.
  ///
  /// An earlier deadline stays in effect. The deadline covers waiting, exchanges and content transfer. An instant a
  /// hundred years or more after the start of the call sets no limit.
  public mutating func limit(to instant: MonotonicInstant) {
    guard owner.startInstant.duration(to: instant) < .endless else { return }
    owner.setDeadline(instant)
    // An outer middleware may have set the default limit. Waiting ends at the earlier of the two.
    if let end, end <= instant { return }
    (end, endsLater) = (instant, false)
    if let attemptDeadline, attemptDeadline >= instant { self.attemptDeadline = nil }
  }

  /// Sets the default limit of the call. Time during which content is transferred does not count.
  ///
  /// Queues, connecting, waiting for the response head and delays between attempts count. While request or response
  /// content is transferred, the limit is paused; the call then ends after 20 seconds without a byte
  /// (``ExchangeTimeouts/stall``), or below 1 KiB/s over 60 seconds. The limit continues with the remaining time
  /// after the request has been sent, and before another attempt or redirect. It no longer applies once the app reads
  /// a streamed response. A hundred years or more means no limit. Only the first call of this method has an effect.
  ///
  /// - Parameter limit: the time from the start of the call.
  package mutating func limitExcludingTransfer(_ limit: Duration) {
    guard limit < .endless else { return }
    let stall = values[ExchangeTimeouts.self].stall ?? CallTimeLimit.defaultStall
    owner.setDefaultLimit(CallTimeLimit(limit, stall: stall, since: owner.startInstant))
    let instant = owner.startInstant.advanced(by: limit)
    if let end, end <= instant { return }
    (end, endsLater) = (instant, true)
    if let attemptDeadline, attemptDeadline >= instant { self.attemptDeadline = nil }
  }

  /// Sets a deadline for the response head of the attempt.
  ///
  /// An attempt runs in the task of its call and cannot be cancelled separately. The deadline therefore cancels
  /// nothing: transports and middlewares that wait check ``attemptDeadline`` and throw
  /// ``TransportError/attemptTimedOut(in:requestState:)`` themselves, after which the call can retry. The deadline
  /// covers all redirects of the attempt, but not the transfer of content. An earlier deadline of the attempt or the
  /// call stays in effect.
  public mutating func limitAttempt(to instant: MonotonicInstant) {
    if let nearest = nearestDeadline, nearest <= instant { return }
    attemptDeadline = instant
  }

  /// Notifies `target` when the deadline of this attempt passes, by the client's clock.
  ///
  /// Use this method in middlewares that wait without a timeout. The alarm needs no task. The target is retained until
  /// it is notified or the alarm is cancelled. If the deadline has already passed, the target is notified immediately,
  /// on another thread.
  ///
  /// - Returns: the alarm, or `nil` if the attempt has no deadline. The target is never notified then.
  public func alarm(for target: any DeadlineTarget) -> DeadlineAlarm? {
    attemptDeadline.map { owner.alarm(for: target, at: $0) }
  }
}

/// The progress of the call, for middlewares that store or invalidate responses.
extension CallContext {
  /// The properties of the last exchange that a cache needs.
  package struct LastExchange: Sendable {
    /// The instant at which the message was passed to the transport; `nil` if there was no exchange.
    package fileprivate(set) var start: MonotonicInstant?
    /// The instant at which the response head arrived.
    package fileprivate(set) var head: MonotonicInstant?
    /// Whether the response is that of a redirect's target.
    package fileprivate(set) var isRedirected = false
    /// Whether the call has waited for an exchange that another call started. That call stores the response.
    package fileprivate(set) var isShared = false
  }

  /// The last exchange of the call.
  package var lastExchange: LastExchange {
    let (leader, own) = owner.snapshot { ($0.leader, $0.lastExchange) }
    guard let leader else { return own }
    var shared = leader.snapshot(\.lastExchange)
    shared.isShared = true
    return shared
  }

  /// Returns the origin of a message. Most messages go to the origin of the base URL, which is parsed already.
  package func origin(of request: RequestMessage) -> Origin? {
    if case .success(let base) = owner.prepared.baseURL, request.head.authority == base.authority,
      request.head.scheme == base.origin.scheme
    {
      return base.origin
    }
    return request.origin
  }

  /// The origin of the base URL; `nil` if the request names a complete URL.
  package var baseOrigin: Origin? {
    guard !owner.sendsToURL, case .success(let base) = owner.prepared.baseURL else { return nil }
    return base.origin
  }

  /// The message as it was last sent: with credentials, and after redirects. `nil` if there was no exchange.
  package var sentMessage: RequestMessage? { source.snapshot(\.message) }

  /// Whether the server may have seen a request of the call.
  package var requestState: RequestState { owner.progress.requestState }

  /// Whether the endpoint forbids to coalesce the call.
  package var refusesCoalescing: Bool { owner.options.coalesces == false }

  /// The call that performs the exchange.
  private var source: Call { owner.snapshot(\.leader) ?? owner }
}

extension CallState {
  /// The last exchange, from the events: the last two of their kinds.
  fileprivate var lastExchange: CallContext.LastExchange {
    var exchange = CallContext.LastExchange()
    exchange.isRedirected = isRedirected
    for event in events.reversed() {
      if exchange.head == nil, case .headArrived = event.kind { exchange.head = event.instant }
      guard case .exchangeStarted = event.kind else { continue }
      exchange.start = event.instant
      break
    }
    return exchange
  }
}

extension CallContext {
  /// Whether a message of this call may be sent more than once: because its method is idempotent, unless the endpoint
  /// declares otherwise (`.idempotent(_:)`), or because it carries an idempotency key. Whether its content can be
  /// replayed is a separate condition (``MessageContent/isReplayable``).
  ///
  /// - Parameter head: the head as it is sent. A redirect may have removed the idempotency key.
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

  /// Whether the messages sent in this attempt, redirects included, may be repeated. Messages that failed before they
  /// were sent, and messages rejected with 401, had no effect and do not count.
  package var sentMessages: SentMessages { owner.snapshot(\.sentMessages) }

  private static let standardKey = HTTPField.Name("Idempotency-Key")
}
