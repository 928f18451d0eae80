import HTTPTypes

/// What changes while a call runs: a pure state machine, whose answers say what is to be done.
///
/// `running` until the caller's side ends it; a reason to cancel that comes before is kept and decides the
/// outcome, one that comes after has no effect. So every call has exactly one outcome.
struct CallState {
  private(set) var isEnded = false
  private(set) var reason: CancellationReason?
  private(set) var phase: CallPhase = .preparing
  private(set) var attempts = 0
  private(set) var events: [TraceEvent] = []
  private(set) var droppedEvents = 0
  /// Attempts that failed when the call had ended, in an exchange for which others still wait.
  private(set) var lateAttempts: [FailedAttempt] = []
  var message: RequestMessage?
  private(set) var head: HTTPResponse?
  private(set) var trailers = HTTPFields()
  var sentBytes: Int64 = 0
  private(set) var receivedBytes: Int64 = 0
  var expectedSendBytes: Int64?
  private(set) var expectedReceiveBytes: Int64?
  /// What to cancel: the running unit, then the content that the app reads.
  private(set) var canceller: (any Cancellable)?
  /// Its time limits, and the movement of its content that they heed.
  var limits = CallLimits()
  /// The call whose exchange is this one's too; `nil`: it has its own.
  var leader: Call?
  /// Whether the server can have seen the request in an attempt that failed.
  private var hasBeenSent = false
  /// Whether another call's exchange is this one's too.
  private(set) var sharesExchange = false
  /// Whether the transport tells when an exchange gets its connection (``Transport/reportsConnections``).
  private let reportsConnections: Bool
  /// Whether any exchange of this call came as far as where a request is sent.
  private var hasConnected = false
  /// What the present attempt has sent.
  private(set) var sentMessages = SentMessages.repeatable

  /// More events than this are counted, not kept: a trace cannot grow without bound.
  private static let eventLimit = 1000

  init(reportsConnections: Bool = false) {
    self.reportsConnections = reportsConnections
    events.reserveCapacity(12)
  }

  /// Keeps what to cancel; answers whether to cancel it at once, because a reason came first.
  mutating func attach(_ canceller: any Cancellable) -> Bool {
    self.canceller = canceller
    return reason != nil
  }

  /// What follows from a reason to end early.
  struct Cancelled {
    let event: TraceEvent
    let canceller: (any Cancellable)?
  }

  /// Takes a reason to end early and writes it down. The first one counts. Answers `nil` when there is nothing to do.
  mutating func cancel(at now: MonotonicInstant, _ make: (CallPhase) -> CancellationReason) -> Cancelled? {
    guard !isEnded, reason == nil else { return nil }
    let reason = make(phase)
    self.reason = reason
    let event = TraceEvent(kind: .cancelRequested(reason), instant: now, attempt: max(1, attempts))
    append(event)
    return Cancelled(event: event, canceller: canceller)
  }

  /// How a call ended, and what is left to tidy up.
  struct End {
    let event: TraceEvent
    let reason: CancellationReason?
    let alarm: DeadlineTimer.Key?
  }

  /// Ends the call. A reason to cancel that came first decides how. Answers `nil` when it has ended before.
  mutating func end(_ outcome: TraceEvent.Kind, at now: MonotonicInstant) -> End? {
    guard !isEnded else { return nil }
    let kind = reason.map { TraceEvent.Kind.failed($0.code) } ?? outcome
    let event = TraceEvent(kind: kind, instant: now, attempt: max(1, attempts))
    append(event)
    isEnded = true
    (canceller, leader) = (nil, nil)
    return End(event: event, reason: reason, alarm: limits.stop())
  }

  /// Writes an event down and moves on to the phase it begins.
  mutating func append(_ event: TraceEvent) {
    advance(to: event)
    if event.kind.isProgress { return }
    if events.count < Self.eventLimit { events.append(event) } else { droppedEvents += 1 }
  }

  /// Keeps of what happens after the end what others need to know that share the exchange.
  mutating func appendLate(_ event: TraceEvent) {
    if case .redirected = event.kind { leftHop() }
    guard sharesExchange else { return }
    follow(event)
    guard case .attemptFailed(let attempt) = event.kind, lateAttempts.count < Self.eventLimit else { return }
    lateAttempts.append(attempt)
  }

  private mutating func advance(to event: TraceEvent) {
    follow(event)
    switch event.kind {
    // Between two hops a call waits as it does before the first.
    case .redirected:
      phase = .waiting
      leftHop()
    case .prepared, .awaitingCredentials, .queued: phase = .waiting
    // The exchange waits for a connection, or did so until it was there; it may have lost one that it was sent on.
    case .phase(.queued, _):
      phase = .waiting
      if hasConnected || !reportsConnections { hasBeenSent = true }
    case .joined: shareExchange()
    case .attemptFailed(let attempt): take(attempt)
    case .exchangeStarted:
      phase = .connecting
      attempts = max(attempts, event.attempt)
      // A new exchange starts its own count; what an earlier one had received is not this one's, nor its answer.
      head = nil
      (sentBytes, receivedBytes, expectedSendBytes, expectedReceiveBytes) = (0, 0, nil, nil)
    case .connected: (hasConnected, phase) = (true, .connecting)
    case .requestSent: phase = .awaitingHead
    case .headArrived: phase = .receiving
    // A closure that has read all of it goes on running.
    case .contentArrived: if phase != .handling { phase = .decoding }
    default: break
    }
  }

  /// Between two attempts a call waits as it does before the first, but what an earlier one sent stays sent.
  private mutating func take(_ attempt: FailedAttempt) {
    guard case .again = attempt.decision else { return }
    (phase, sentMessages) = (.waiting, .repeatable)
    if attempt.wasSent { hasBeenSent = true }
  }

  /// Keeps the head that the pipeline gave in the end: a stored answer's, for one, which came by no exchange.
  mutating func settle(_ head: HTTPResponse, _ trailers: HTTPFields) {
    self.head = head
    self.trailers = trailers
  }

  mutating func headArrived(_ head: HTTPResponse) {
    self.head = head
    limits.movement.isAnswered = true
    expectedReceiveBytes = head.headerFields[.contentLength].flatMap { Int64($0) }
  }

  /// Counts content that arrived. Answers how much there is, and how much was announced.
  ///
  /// - Parameters:
  ///   - isLast: whether it is known that no more follows.
  ///   - now: the present instant. It is read only if a limit depends on it, and not for the last piece of an announced
  ///     length, so not for small responses.
  mutating func received(
    _ count: Int, isLast: Bool = false, at now: @autoclosure () -> MonotonicInstant
  ) -> (received: Int64, expected: Int64?) {
    receivedBytes += Int64(count)
    if heedsMovement, !isLast, receivedBytes != expectedReceiveBytes { limits.movement.moved(Int64(count), at: now()) }
    return (receivedBytes, expectedReceiveBytes)
  }

  /// What was sent last is an earlier hop now.
  private mutating func leftHop() {
    if sentMessages == .endsUnrepeatable { sentMessages = .unrepeatable }
  }

  /// A message left, or may have, that may not be sent again.
  mutating func sentUnrepeatable() {
    if sentMessages == .repeatable { sentMessages = .endsUnrepeatable }
  }

  mutating func shareExchange() { sharesExchange = true }

  mutating func enterHandler() {
    phase = .handling
    limits.endStandard()
  }

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
}

extension TraceEvent.Kind {
  /// Whether it only tells how far a transfer is.
  var isProgress: Bool {
    switch self {
    case .sendProgress, .receiveProgress: true
    default: false
    }
  }
}

extension CallState {
  /// Whether a limit depends on how content moves: this call's, or that of another one for which its exchange is made.
  var heedsMovement: Bool { limits.standard != nil || sharesExchange }

  /// Follows how content moves: it does from a report of progress on, and no more once all of it has, its exchange is
  /// over, or another one begins.
  mutating func follow(_ event: TraceEvent) {
    switch event.kind {
    case .sendProgress(let sent, let expected): moved(toSent: sent, of: expected, at: event.instant)
    // An answer that began before the request was complete may be moving.
    case .requestSent: if !limits.movement.isAnswered { limits.movement.paused(at: event.instant) }
    case .exchangeStarted:
      limits.movement.isAnswered = false
      limits.movement.paused(at: event.instant)
    case .contentArrived, .redirected, .awaitingCredentials, .queued, .attemptFailed:
      limits.movement.paused(at: event.instant)
    default: break
    }
  }

  private mutating func moved(toSent sent: Int64, of expected: Int64?, at now: MonotonicInstant) {
    let count = sent - sentBytes
    (sentBytes, expectedSendBytes) = (sent, expected)
    guard heedsMovement else { return }
    limits.movement.moved(count, at: now)
    if let expected, sent >= expected, !limits.movement.isAnswered { limits.movement.paused(at: now) }
  }

  /// The alarm of the limits rang. Answers what follows.
  mutating func alarmRang(at now: MonotonicInstant, _ shared: ContentMovement?) -> CallLimits.Ring {
    isEnded || reason != nil ? .nothing : limits.rang(at: now, shared)
  }
}

extension CallState {
  /// What a call waited for ahead of an exchange until it was ended, as half a sentence; empty where the last that
  /// happened to it does not tell.
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

/// What a call has sent in its present attempt, seen from whatever would repeat the attempt with all its hops.
public enum SentMessages: Sendable, Hashable {
  /// Messages that may be sent again, or none.
  case repeatable
  /// The last message may not be sent again, unless its server says that it did nothing.
  case endsUnrepeatable
  /// An earlier hop may not be sent again, whatever the server of the last message says.
  case unrepeatable
}
