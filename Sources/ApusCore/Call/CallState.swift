import HTTPTypes

/// The mutable state of a call. A pure state machine: its methods return the actions to perform.
///
/// A call runs until its caller's side ends it. A cancellation before the end determines the result; a cancellation
/// after the end has no effect. Every call therefore has exactly one result.
struct CallState {
  private(set) var isEnded = false
  /// The reason why the call was cancelled, or `nil`.
  private(set) var reason: CancellationReason?
  private(set) var phase: CallPhase = .preparing
  private(set) var attempts = 0
  private(set) var events: [TraceEvent] = []
  private(set) var droppedEvents = 0
  /// The attempts that failed after the call ended, in an exchange that other calls still wait for.
  private(set) var lateAttempts: [FailedAttempt] = []
  /// The request message as built from the request, and later as changed by the middlewares.
  private(set) var message: RequestMessage?
  private(set) var head: HTTPResponse?
  /// The version of HTTP of the response that the pipeline returned.
  private(set) var protocolVersion: HTTPVersion?
  private(set) var trailers = HTTPFields()
  private(set) var sentBytes: Int64 = 0
  private(set) var receivedBytes: Int64 = 0
  private(set) var expectedSendBytes: Int64?
  private(set) var expectedReceiveBytes: Int64?
  /// The time limits, which are a separate state machine.
  var limits = CallLimits()
  /// The call whose exchange this call shares, or `nil` if it has its own exchange.
  private(set) var leader: Call?
  /// Whether the call has followed a redirect in this attempt, so that the response belongs to another URL.
  private(set) var isRedirected = false
  /// Whether the messages sent in this attempt may be repeated.
  private(set) var sentMessages = SentMessages.repeatable
  /// Whether other calls share the exchange of this call.
  private var sharesExchange = false
  /// The work to cancel: the running task, then the content that the app reads.
  private var canceller: (any Cancellable)?
  /// Whether the server may have seen the request in a failed attempt.
  private var hasBeenSent = false
  /// Whether the transport reports when an exchange gets its connection (``Transport/reportsConnections``).
  private let reportsConnections: Bool
  /// Whether any exchange of this call had a connection.
  private var hasConnected = false

  /// The maximum number of events. Further events are only counted, so that a trace cannot grow without bound.
  private static let eventLimit = 1000
  /// The number of events for which memory is reserved.
  private static let usualEvents = 12

  init(reportsConnections: Bool = false) {
    self.reportsConnections = reportsConnections
    events.reserveCapacity(Self.usualEvents)
  }

  // MARK: Cancelling and ending

  /// Stores the work to cancel. Returns whether to cancel it immediately, because the call is already cancelled.
  mutating func attach(_ canceller: any Cancellable) -> Bool {
    self.canceller = canceller
    return reason != nil
  }

  /// The result of a cancellation: the event, and the work to cancel.
  struct Cancelled {
    let event: TraceEvent
    let canceller: (any Cancellable)?
  }

  /// Cancels the call. Only the first cancellation has an effect. Returns `nil` for later cancellations and after the
  /// end of the call.
  mutating func cancel(at now: MonotonicInstant, _ make: (CallPhase) -> CancellationReason) -> Cancelled? {
    guard !isEnded, reason == nil else { return nil }
    let reason = make(phase)
    self.reason = reason
    let event = TraceEvent(kind: .cancelRequested(reason), instant: now, attempt: max(1, attempts))
    append(event)
    return Cancelled(event: event, canceller: canceller)
  }

  /// The end of a call, and the alarm to cancel.
  struct End {
    let event: TraceEvent
    let reason: CancellationReason?
    let alarm: DeadlineTimer.Key?
  }

  /// Ends the call with `outcome`, unless it was cancelled first. Returns `nil` if the call has already ended.
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

  /// Appends an event and advances to the phase that it begins.
  mutating func append(_ event: TraceEvent) {
    advance(to: event)
    if event.kind.isProgress { return }
    if events.count < Self.eventLimit { events.append(event) } else { droppedEvents += 1 }
    // Many calls may be queued for a long time, so the memory reserved for further events is released.
    if case .queued = event.kind, events.count < Self.usualEvents / 2 { events = events.map { $0 } }
  }

  /// Appends an event that begins no phase, with the instant of the last one. Returns the instant; `nil`: the call has
  /// ended.
  mutating func appendNote(_ kind: TraceEvent.Kind, _ attempt: Int) -> MonotonicInstant? {
    guard !isEnded, let last = events.indices.last else { return nil }
    let instant = events[last].instant
    if events.count < Self.eventLimit {
      events.append(TraceEvent(kind: kind, instant: instant, attempt: attempt))
    } else {
      droppedEvents += 1
    }
    return instant
  }

  /// Handles an event after the call's end. Stores only the information that calls sharing the exchange need.
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
    // Between two hops the phase is `waiting`, as before the first hop.
    case .redirected:
      phase = .waiting
      leftHop()
    case .prepared, .awaitingCredentials, .queued: phase = .waiting
    // The exchange waits for a connection. It may have lost a connection on which the request was sent.
    case .phase(.queued, _):
      phase = .waiting
      if hasConnected || !reportsConnections { hasBeenSent = true }
    case .coalesced: shareExchange()
    case .attemptFailed(let attempt): apply(attempt)
    case .exchangeStarted: beginExchange(event.attempt)
    case .connected: (hasConnected, phase) = (true, .connecting)
    // The response may have begun before the request was complete.
    case .requestSent: if head == nil { phase = .awaitingHead }
    case .headArrived: phase = .receiving
    // A closure that has read all content may continue to run.
    case .contentArrived: if phase != .handling { phase = .decoding }
    default: break
    }
  }

  /// Resets the progress, because bytes and response of an earlier exchange do not belong to the new exchange.
  private mutating func beginExchange(_ attempt: Int) {
    phase = .connecting
    attempts = max(attempts, attempt)
    head = nil
    (sentBytes, receivedBytes, expectedSendBytes, expectedReceiveBytes) = (0, 0, nil, nil)
  }

  /// Applies a failed attempt. Between two attempts the phase is `waiting`, as before the first attempt, but a request
  /// that was sent remains sent.
  private mutating func apply(_ attempt: FailedAttempt) {
    guard case .retry = attempt.decision else { return }
    (phase, sentMessages, isRedirected) = (.waiting, .repeatable, false)
    if attempt.wasSent { hasBeenSent = true }
  }

  /// Marks the last message as part of an earlier hop.
  private mutating func leftHop() {
    isRedirected = true
    if sentMessages == .endsUnrepeatable { sentMessages = .unrepeatable }
  }

  // MARK: Messages

  mutating func setMessage(_ message: RequestMessage) { self.message = message }

  /// Records that a message that must not be repeated was sent, or may have been sent.
  mutating func sentUnrepeatable() {
    if sentMessages == .repeatable { sentMessages = .endsUnrepeatable }
  }

  mutating func headArrived(_ head: HTTPResponse) {
    self.head = head
    limits.headArrived()
    expectedReceiveBytes = head.headerFields.first { $0.name == .contentLength }.flatMap { Int64($0.value) }
  }

  /// Stores the response that the pipeline returned, for example a cached response without an exchange.
  mutating func finish(with response: ResponseMessage, _ trailers: HTTPFields) {
    (head, protocolVersion) = (response.head, response.protocolVersion)
    self.trailers = trailers
  }

  /// Adds received content. Returns the number of bytes so far and the announced length.
  ///
  /// - Parameters:
  ///   - isLast: whether no more content follows.
  ///   - now: the current instant. Evaluated only if a limit depends on the content transfer, and not for the last
  ///     piece of content with an announced length, so that small responses do not read the clock.
  mutating func received(
    _ count: Int, isLast: Bool = false, at now: @autoclosure () -> MonotonicInstant
  ) -> (received: Int64, expected: Int64?) {
    receivedBytes += Int64(count)
    if dependsOnContent, !isLast, receivedBytes != expectedReceiveBytes { limits.contentMoved(Int64(count), at: now()) }
    return (receivedBytes, expectedReceiveBytes)
  }

  /// Begins the phase in which the app's closure reads the content at its own pace.
  mutating func enterHandler() {
    phase = .handling
    limits.endDefaultLimit()
  }

  // MARK: Limits

  /// Returns the remaining time if no content is transferred from now on, or `nil` without a limit. Zero or negative
  /// once a limit has passed.
  func remaining(at now: MonotonicInstant) -> Duration? {
    if case .deadline = reason { return .zero }
    return limits.end(at: now).map { now.duration(to: $0) }
  }

  /// Marks the exchange as shared with other calls.
  mutating func shareExchange() { sharesExchange = true }

  /// Shares the exchange of another call.
  ///
  /// - Parameter earlier: the time during which content was already transferred in that exchange.
  mutating func follow(_ leader: Call, after earlier: Duration) {
    guard !isEnded else { return }
    self.leader = leader
    limits.shareExchange(after: earlier)
  }

  /// Whether a limit depends on the content transfer: the limit of this call, or of a call that shares its exchange.
  private var dependsOnContent: Bool { limits.defaultLimit != nil || sharesExchange }

  /// Tracks the content transfer. A transfer lasts from a progress report until the content is complete, its exchange
  /// is over or another exchange begins.
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
    guard dependsOnContent else { return }
    limits.contentMoved(count, at: now)
    if let expected, sent >= expected { limits.contentSent(at: now) }
  }

  // MARK: Derived state

  /// Whether the server may have seen the request, derived from the phase.
  var requestState: RequestState {
    if head != nil { return .responded }
    let mayBeSent = sharesExchange || hasBeenSent
    switch phase {
    case .preparing, .waiting: return mayBeSent ? .maybeSent : .notSent
    case .connecting where reportsConnections: return mayBeSent || hasConnected ? .maybeSent : .notSent
    default: return .maybeSent
    }
  }

  /// A clause for error messages that names the reason why the call was waiting when it ended. Empty if the call was
  /// not waiting.
  var waitedFor: String {
    for event in events.reversed() {
      switch event.kind {
      case .cancelRequested, .failed: continue
      case .queued(.network): return "waited for a network"
      case .queued(let cause): return "was queued (\(cause))"
      case .awaitingCredentials: return "waited for new credentials"
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

/// Whether the messages that a call sent in one attempt may be repeated, for a middleware that would repeat the
/// attempt with all its hops.
package enum SentMessages: Sendable, Hashable {
  /// No message was sent, or all messages may be repeated.
  case repeatable
  /// The last message must not be repeated, unless its server states that it has not acted on it.
  case endsUnrepeatable
  /// An earlier hop must not be repeated, even if the server of the last message has not acted on it.
  case unrepeatable
}
