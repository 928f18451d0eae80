import HTTPTypes

/// What changes while a call runs: a pure state machine whose answers say what is to be done.
///
/// A call runs until its caller's side ends it. A reason to cancel that comes before the end decides the outcome; one that
/// comes after has no effect. So every call has exactly one outcome.
struct CallState {
  private(set) var isEnded = false
  /// Why the call ends early; `nil`: it does not.
  private(set) var reason: CancellationReason?
  private(set) var phase: CallPhase = .preparing
  private(set) var attempts = 0
  private(set) var events: [TraceEvent] = []
  private(set) var droppedEvents = 0
  /// Attempts that failed after the call had ended, in an exchange that other calls still wait for.
  private(set) var lateAttempts: [FailedAttempt] = []
  /// The request message: as lowered, and later as the middlewares changed it.
  private(set) var message: RequestMessage?
  private(set) var head: HTTPResponse?
  private(set) var trailers = HTTPFields()
  private(set) var sentBytes: Int64 = 0
  private(set) var receivedBytes: Int64 = 0
  private(set) var expectedSendBytes: Int64?
  private(set) var expectedReceiveBytes: Int64?
  private(set) var limits = CallLimits()
  /// The call whose exchange this one shares; `nil`: it has its own.
  private(set) var leader: Call?
  /// What this attempt has sent.
  private(set) var sentMessages = SentMessages.repeatable
  /// Whether other calls share the exchange of this one.
  private var sharesExchange = false
  /// What to cancel: the running unit of work, then the content that the app reads.
  private var canceller: (any Cancellable)?
  /// Whether the server can have seen the request in an attempt that failed.
  private var hasBeenSent = false
  /// Whether the transport reports when an exchange gets its connection (``Transport/reportsConnections``).
  private let reportsConnections: Bool
  /// Whether any exchange of this call had a connection.
  private var hasConnected = false

  /// Further events are counted, not kept: a trace cannot grow without bound.
  private static let eventLimit = 1000

  init(reportsConnections: Bool = false) {
    self.reportsConnections = reportsConnections
    events.reserveCapacity(12)
  }

  // MARK: Cancelling and ending

  /// Keeps what to cancel. Returns whether to cancel it at once, because a reason came first.
  mutating func attach(_ canceller: any Cancellable) -> Bool {
    self.canceller = canceller
    return reason != nil
  }

  /// What follows from cancelling.
  struct Cancelled {
    let event: TraceEvent
    let canceller: (any Cancellable)?
  }

  /// Takes a reason to end early. The first one counts; returns `nil` for all others.
  mutating func cancel(at now: MonotonicInstant, _ make: (CallPhase) -> CancellationReason) -> Cancelled? {
    guard !isEnded, reason == nil else { return nil }
    let reason = make(phase)
    self.reason = reason
    let event = TraceEvent(kind: .cancelRequested(reason), instant: now, attempt: max(1, attempts))
    append(event)
    return Cancelled(event: event, canceller: canceller)
  }

  /// How a call ended, and the alarm that is left to cancel.
  struct End {
    let event: TraceEvent
    let reason: CancellationReason?
    let alarm: DeadlineTimer.Key?
  }

  /// Ends the call with an outcome, or by the reason to cancel that came first. Returns `nil` if it has ended before.
  mutating func end(_ outcome: TraceEvent.Kind, at now: MonotonicInstant) -> End? {
    guard !isEnded else { return nil }
    let kind = reason.map { TraceEvent.Kind.failed($0.code) } ?? outcome
    let event = TraceEvent(kind: kind, instant: now, attempt: max(1, attempts))
    append(event)
    isEnded = true
    (canceller, leader) = (nil, nil)
    return End(event: event, reason: reason, alarm: limits.stop())
  }

  // MARK: Events and phases

  /// Takes an event: keeps it, and moves on to the phase that it begins.
  mutating func append(_ event: TraceEvent) {
    advance(to: event)
    if event.kind.isProgress { return }
    if events.count < Self.eventLimit { events.append(event) } else { droppedEvents += 1 }
  }

  /// Takes an event after the end: keeps what calls that share the exchange need.
  mutating func appendLate(_ event: TraceEvent) {
    if case .redirected = event.kind { leftHop() }
    guard sharesExchange else { return }
    followContent(of: event)
    guard case .attemptFailed(let attempt) = event.kind, lateAttempts.count < Self.eventLimit else { return }
    lateAttempts.append(attempt)
  }

  private mutating func advance(to event: TraceEvent) {
    followContent(of: event)
    switch event.kind {
    // Between two hops a call waits as it does before the first.
    case .redirected:
      phase = .waiting
      leftHop()
    case .prepared, .awaitingCredentials, .queued: phase = .waiting
    // The exchange waits for a connection. It may have lost one on which the request was sent.
    case .phase(.queued, _):
      phase = .waiting
      if hasConnected || !reportsConnections { hasBeenSent = true }
    case .joined: shareExchange()
    case .attemptFailed(let attempt): take(attempt)
    case .exchangeStarted: beginExchange(event.attempt)
    case .connected: (hasConnected, phase) = (true, .connecting)
    case .requestSent: phase = .awaitingHead
    case .headArrived: phase = .receiving
    // A closure that has read all content goes on running.
    case .contentArrived: if phase != .handling { phase = .decoding }
    default: break
    }
  }

  /// A new exchange counts from zero: neither the bytes nor the response of an earlier one are its own.
  private mutating func beginExchange(_ attempt: Int) {
    phase = .connecting
    attempts = max(attempts, attempt)
    head = nil
    (sentBytes, receivedBytes, expectedSendBytes, expectedReceiveBytes) = (0, 0, nil, nil)
  }

  /// Between two attempts a call waits as it does before the first, but what an attempt sent stays sent.
  private mutating func take(_ attempt: FailedAttempt) {
    guard case .again = attempt.decision else { return }
    (phase, sentMessages) = (.waiting, .repeatable)
    if attempt.wasSent { hasBeenSent = true }
  }

  /// What was sent last now belongs to an earlier hop.
  private mutating func leftHop() {
    if sentMessages == .endsUnrepeatable { sentMessages = .unrepeatable }
  }

  // MARK: Messages

  mutating func keep(_ message: RequestMessage) { self.message = message }

  /// A message that must not be sent twice was sent, or may have been.
  mutating func sentUnrepeatable() {
    if sentMessages == .repeatable { sentMessages = .endsUnrepeatable }
  }

  mutating func headArrived(_ head: HTTPResponse) {
    self.head = head
    limits.headArrived()
    expectedReceiveBytes = head.headerFields[.contentLength].flatMap { Int64($0) }
  }

  /// Keeps the response that the pipeline returned in the end, for example a stored one that no exchange brought.
  mutating func settle(_ head: HTTPResponse, _ trailers: HTTPFields) {
    self.head = head
    self.trailers = trailers
  }

  /// Counts content that arrived. Returns the bytes so far and the announced length.
  ///
  /// - Parameters:
  ///   - isLast: whether no more content follows.
  ///   - now: the present instant. Read only if a limit depends on it, and not for the last piece of an announced length:
  ///     small responses do not read the clock here.
  mutating func received(
    _ count: Int, isLast: Bool = false, at now: @autoclosure () -> MonotonicInstant
  ) -> (received: Int64, expected: Int64?) {
    receivedBytes += Int64(count)
    if heedsContent, !isLast, receivedBytes != expectedReceiveBytes { limits.contentMoved(Int64(count), at: now()) }
    return (receivedBytes, expectedReceiveBytes)
  }

  /// The app's closure begins to read the content, at its own pace.
  mutating func enterHandler() {
    phase = .handling
    limits.endDefaultLimit()
  }

  // MARK: Limits

  /// Sets a deadline. Returns the instant to set an alarm for; `nil`: none is needed.
  mutating func setDeadline(_ instant: MonotonicInstant) -> MonotonicInstant? {
    isEnded ? nil : limits.setDeadline(instant)
  }

  /// Sets the default limit. Returns the instant to set an alarm for; `nil`: none is needed.
  mutating func setDefaultLimit(_ limit: CallTimeLimit) -> MonotonicInstant? {
    isEnded ? nil : limits.setDefaultLimit(limit)
  }

  /// An alarm was set. Returns the alarm that is no longer needed.
  mutating func armed(_ key: DeadlineTimer.Key, at instant: MonotonicInstant) -> DeadlineTimer.Key? {
    isEnded ? key : limits.armed(key, at: instant)
  }

  /// The alarm rang. Returns what follows.
  ///
  /// - Parameter leaderContent: how content moves in the exchange of the call that this one follows; `nil`: its own.
  mutating func alarmRang(at now: MonotonicInstant, leaderContent: ContentMovement?) -> CallLimits.Ring {
    isEnded || reason != nil ? .nothing : limits.rang(at: now, leaderContent: leaderContent)
  }

  /// The time left unless content moves from now on. Not positive once the time is up; `nil`: no limit.
  func remaining(at now: MonotonicInstant) -> Duration? {
    if case .deadline = reason { return .zero }
    return limits.end(at: now).map { now.duration(to: $0) }
  }

  /// Another call shares the exchange of this one.
  mutating func shareExchange() { sharesExchange = true }

  /// Shares the exchange of another call.
  ///
  /// - Parameter earlier: how long content had moved in that exchange before.
  mutating func follow(_ leader: Call, after earlier: Duration) {
    guard !isEnded else { return }
    self.leader = leader
    limits.shareExchange(after: earlier)
  }

  /// Whether a limit depends on how content moves: this call's, or that of a call that shares its exchange.
  private var heedsContent: Bool { limits.defaultLimit != nil || sharesExchange }

  /// Follows how content moves. It moves from a report of progress until all of it is there, its exchange is over or another
  /// one begins.
  private mutating func followContent(of event: TraceEvent) {
    switch event.kind {
    case .sendProgress(let sent, let expected): contentSent(sent, of: expected, at: event.instant)
    case .requestSent: limits.contentSent(at: event.instant)
    case .exchangeStarted: limits.exchangeStarted(at: event.instant)
    case .contentArrived, .redirected, .awaitingCredentials, .queued, .attemptFailed:
      limits.contentPaused(at: event.instant)
    default: break
    }
  }

  private mutating func contentSent(_ sent: Int64, of expected: Int64?, at now: MonotonicInstant) {
    let count = sent - sentBytes
    (sentBytes, expectedSendBytes) = (sent, expected)
    guard heedsContent else { return }
    limits.contentMoved(count, at: now)
    if let expected, sent >= expected { limits.contentSent(at: now) }
  }

  // MARK: Questions

  /// Whether the server can have seen the request, as far as the phase tells.
  var requestState: RequestState {
    if head != nil { return .answered }
    let mayBeSent = sharesExchange || hasBeenSent
    switch phase {
    case .preparing, .waiting: return mayBeSent ? .maybeSent : .notSent
    case .connecting where reportsConnections: return mayBeSent || hasConnected ? .maybeSent : .notSent
    default: return .maybeSent
    }
  }

  /// What the call waited for before an exchange when it was ended, as half a sentence; empty if the last event does not
  /// tell.
  var waitedFor: String {
    for event in events.reversed() {
      switch event.kind {
      case .cancelRequested, .failed: continue
      case .queued(.network): return "waited for a network"
      case .queued(let cause): return "waited for its turn (\(cause))"
      case .awaitingCredentials: return "waited for other credentials"
      case .attemptFailed: return "waited for its next attempt"
      case .redirected: return "waited to follow a redirect"
      default: return ""
      }
    }
    return ""
  }
}

extension TraceEvent.Kind {
  /// Whether the event only reports progress.
  var isProgress: Bool {
    switch self {
    case .sendProgress, .receiveProgress: true
    default: false
    }
  }
}

/// What a call has sent in one attempt, for a middleware that would repeat the attempt with all its hops.
package enum SentMessages: Sendable, Hashable {
  /// Nothing, or messages that may be sent again.
  case repeatable
  /// The last message must not be sent again, unless its server says that it did nothing.
  case endsUnrepeatable
  /// An earlier hop must not be sent again, even if the server of the last message did nothing.
  case unrepeatable
}
