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
  private(set) var sentBytes: Int64 = 0
  private(set) var receivedBytes: Int64 = 0
  private(set) var expectedSendBytes: Int64?
  private(set) var expectedReceiveBytes: Int64?
  /// What to cancel: the running unit, then the content that the app reads.
  private(set) var canceller: (any Cancellable)?
  private(set) var deadline: MonotonicInstant?
  private var deadlineKey: DeadlineTimer.Key?
  /// Whether the server can have seen the request in an attempt that failed.
  private var hasBeenSent = false
  /// Whether another call's exchange is this one's too.
  private var sharesExchange = false
  /// Whether the transport tells when an exchange gets its connection (``Transport/reportsConnections``).
  private let reportsConnections: Bool
  /// Whether any exchange of this call came as far as where a request is sent.
  private var hasConnected = false

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

  /// Takes a deadline, unless an earlier one is in force or the call has ended. Answers the one to take back.
  mutating func limit(to instant: MonotonicInstant, _ key: DeadlineTimer.Key) -> DeadlineTimer.Key? {
    if isEnded { return key }
    if let deadline, deadline <= instant { return key }
    defer { (deadline, deadlineKey) = (instant, key) }
    return deadlineKey
  }

  /// How a call ended, and what is left to tidy up.
  struct End {
    let event: TraceEvent
    let reason: CancellationReason?
    let deadlineKey: DeadlineTimer.Key?
  }

  /// Ends the call. A reason to cancel that came first decides how. Answers `nil` when it has ended before.
  mutating func end(_ outcome: TraceEvent.Kind, at now: MonotonicInstant) -> End? {
    guard !isEnded else { return nil }
    let kind = reason.map { TraceEvent.Kind.failed($0.code) } ?? outcome
    let event = TraceEvent(kind: kind, instant: now, attempt: max(1, attempts))
    append(event)
    isEnded = true
    canceller = nil
    defer { deadlineKey = nil }
    return End(event: event, reason: reason, deadlineKey: deadlineKey)
  }

  /// Writes an event down and moves on to the phase it begins.
  mutating func append(_ event: TraceEvent) {
    advance(to: event)
    if event.kind.isProgress { return }
    if events.count < Self.eventLimit { events.append(event) } else { droppedEvents += 1 }
  }

  /// Keeps of what happens after the end what others need to know that share the exchange.
  mutating func appendLate(_ kind: TraceEvent.Kind) {
    guard sharesExchange, case .attemptFailed(let attempt) = kind, lateAttempts.count < Self.eventLimit else { return }
    lateAttempts.append(attempt)
  }

  private mutating func advance(to event: TraceEvent) {
    switch event.kind {
    // Between two hops a call waits as it does before the first.
    case .prepared, .redirected, .awaitingCredentials, .queued: phase = .waiting
    case .joined: shareExchange()
    case .attemptFailed(let attempt): take(attempt)
    case .exchangeStarted:
      phase = .connecting
      attempts = max(attempts, event.attempt)
      // A new exchange starts its own count; what an earlier one had received is not this one's, nor its answer.
      head = nil
      (sentBytes, receivedBytes, expectedSendBytes, expectedReceiveBytes) = (0, 0, nil, nil)
    case .connected: hasConnected = true
    case .requestSent: phase = .awaitingHead
    case .headArrived: phase = .receiving
    // A closure that has read all of it goes on running.
    case .contentArrived: if phase != .handling { phase = .decoding }
    case .sendProgress(let sent, let expected): (sentBytes, expectedSendBytes) = (sent, expected)
    default: break
    }
  }

  /// Between two attempts a call waits as it does before the first, but what an earlier one sent stays sent.
  private mutating func take(_ attempt: FailedAttempt) {
    guard case .again = attempt.decision else { return }
    phase = .waiting
    if attempt.wasSent { hasBeenSent = true }
  }

  /// Keeps the head that the pipeline gave in the end: a stored answer's, for one, which came by no exchange.
  mutating func settle(_ head: HTTPResponse, _ trailers: HTTPFields) {
    self.head = head
    self.trailers = trailers
  }

  mutating func headArrived(_ head: HTTPResponse) {
    self.head = head
    expectedReceiveBytes = head.headerFields[.contentLength].flatMap { Int64($0) }
  }

  /// Counts content that arrived. Answers how much there is, and how much was announced.
  mutating func received(_ count: Int) -> (received: Int64, expected: Int64?) {
    receivedBytes += Int64(count)
    return (receivedBytes, expectedReceiveBytes)
  }

  mutating func shareExchange() { sharesExchange = true }

  mutating func enterHandler() { phase = .handling }

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

/// Something that can be told to stop.
protocol Cancellable: Sendable {
  func cancel()
}

extension Task: Cancellable {}
