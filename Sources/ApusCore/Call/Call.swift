import HTTPTypes
import Synchronization

/// The way the content (body) of a response is delivered.
public enum ContentDelivery: Sendable, Hashable {
  /// The complete content, in memory.
  case buffered
  /// In pieces, as they arrive.
  case streamed
  /// No content, because only the request message is wanted. Nothing may be sent, stored or counted.
  case described
}

/// A call of an endpoint: its identity, its state and its trace.
final class Call: DeadlineTarget {
  let serial: UInt64
  let id: CallID
  let request: RequestBox
  let host: CallHost
  let prepared: PreparedEnvironment
  /// For test clocks that advance by themselves: holds the clock while the caller's own code runs. `nil` for all other
  /// clocks.
  let callerClockHold: CallerClockHold?
  let startInstant: MonotonicInstant
  /// The deadline inherited from the surrounding work, or `nil`.
  let inheritedDeadline: MonotonicInstant?
  let delivery: ContentDelivery
  /// Whether the URL of the request uses http and was named by a response received over https.
  let leavesHTTPS: Bool
  let state: Mutex<CallState>
  private let reporter: EventReporter?

  init(_ request: RequestBox, delivery: ContentDelivery, from source: CallSource) {
    host = source.host
    self.request = request
    self.delivery = delivery
    leavesHTTPS = request.description.path.leavesHTTPS
    serial = host.nextSerial()
    id = request.description.options.id ?? CallID(serial: serial)
    prepared = source.environment
    callerClockHold = host.selfAdvancingClock.map(CallerClockHold.init)
    startInstant = host.runtime.clock.now
    inheritedDeadline = source.deadline
    state = Mutex(CallState(reportsConnections: host.reportsConnections))
    let observers = host.settings.observers
    // A described call sends nothing, so observers do not see it.
    reporter = observers.isEmpty || delivery == .described ? nil : EventReporter(observers)
  }

  var options: CallOptions { request.description.options }
  var endpoint: EndpointIdentity { EndpointIdentity(of: request) }
  var environment: Environment { prepared.environment }
  var runtime: Runtime { host.runtime }
  var errorTexts: ErrorTexts { host.settings.errorTexts }
  var coding: CodingOptions { options.coding?.over(host.settings.coding) ?? host.settings.coding }
  var contentLimit: Int { options.contentLimit ?? host.settings.contentLimit }
  var entry: CallEntry { CallEntry(call: self) }
  /// Whether the call joins a running call with the same id.
  var joins: Bool { options.duplicatePolicy == .coalesce && id.isNamed }
  /// Whether the call joins any equal call in flight.
  var coalesces: Bool { options.coalesces ?? host.settings.coalesces }
  /// Whether the request names a complete URL in place of a path below the base URL.
  var sendsToURL: Bool { request.description.path.origin != nil }
  var attempts: Int { snapshot(\.attempts) }
  var deadline: Deadline? { snapshot(\.limits.deadline).map { Deadline($0, on: runtime.clock) } }
  var cancellationReason: CancellationReason? { snapshot(\.reason) }
  var progress: (phase: CallPhase, requestState: RequestState) { state.withLock { ($0.phase, $0.requestState) } }
  var trace: Trace { Trace(id: id, endpoint: endpoint, events: snapshot(\.events)) }
  var key: CallKey { CallKey(owner: host.owner, serial: serial) }

  /// The failed attempts, including attempts of a shared exchange that failed after the call and its trace had ended.
  var failedAttempts: [FailedAttempt] { trace.failedAttempts + snapshot(\.lateAttempts) }

  func snapshot<Part>(_ part: (borrowing CallState) -> Part) -> Part {
    state.withLock { part($0) }
  }

  // MARK: Events

  /// Adds an event to the trace and notifies the observers.
  ///
  /// - Parameter instant: the instant of the event. Default: `nil`, now.
  func record(_ kind: TraceEvent.Kind, attempt: Int = 1, at instant: MonotonicInstant? = nil) {
    if append(TraceEvent(kind: kind, instant: instant ?? runtime.clock.now, attempt: attempt)) { announce() }
  }

  /// Adds an event that begins no phase, with the instant of the last one.
  func recordWithLast(_ kind: TraceEvent.Kind, attempt: Int) {
    let isAdded = state.withLock { state in
      guard let instant = state.appendNote(kind, attempt) else { return false }
      if let reporter { reporter.enqueue(TraceEvent(kind: kind, instant: instant, attempt: attempt)) }
      return true
    }
    if isAdded { announce() }
  }

  /// Adds the first event, with the instant from which the call's limits count.
  ///
  /// Added before the call is registered, so that no event can precede it. Observers receive it with ``announce()``
  /// or the next event.
  func recordStart() {
    _ = append(TraceEvent(kind: .started, instant: startInstant, attempt: 1))
  }

  /// Delivers pending events to the observers.
  func announce() {
    reporter?.deliver(of: self)
  }

  private func append(_ event: TraceEvent) -> Bool {
    state.withLock { state in
      guard !state.isEnded else {
        state.appendLate(event)
        return false
      }
      state.append(event)
      reporter?.enqueue(event)
      return true
    }
  }

  // MARK: Progress

  /// Stores the message as built from the request, and later as changed by the middlewares.
  func setMessage(_ message: RequestMessage) {
    state.withLock { $0.setMessage(message) }
  }

  func sentUnrepeatable() {
    state.withLock { $0.sentUnrepeatable() }
  }

  func headArrived(_ head: HTTPResponse, attempt: Int) {
    state.withLock { $0.headArrived(head) }
    record(.headArrived(status: head.status.code), attempt: attempt)
  }

  /// Stores the response that the pipeline returned.
  func finish(with response: ResponseMessage) {
    let trailers = response.content.trailers
    state.withLock { $0.finish(with: response, trailers) }
  }

  func sent(total: Int64, expected: Int64?) {
    record(.sendProgress(sent: total, expected: expected))
    options.uploadProgress?.report(total, of: expected, at: runtime.clock.now)
  }

  /// Adds received content to the number of received bytes. The event is created only if there are observers.
  func received(_ count: Int, isLast: Bool = false) {
    let (received, expected) = state.withLock { $0.received(count, isLast: isLast, at: runtime.clock.now) }
    if reporter != nil { record(.receiveProgress(received: received, expected: expected)) }
    options.downloadProgress?.report(received, of: expected, at: runtime.clock.now)
  }

  /// Marks the call's exchange as shared with other calls.
  func shareExchange() {
    state.withLock { $0.shareExchange() }
  }

  func enterHandler() {
    state.withLock { $0.enterHandler() }
  }

  /// Removes the default limit of a live stream, because the app reads the content at its own pace.
  func endDefaultLimit() {
    state.withLock { $0.limits.endDefaultLimit() }
  }

  // MARK: Cancelling

  /// Cancels `canceller` when the call is cancelled, or immediately if the call is already cancelled.
  func attach(_ canceller: any Cancellable) {
    if state.withLock({ $0.attach(canceller) }) { canceller.cancel() }
  }

  func cancel(_ reason: CancellationReason) {
    cancel { _ in reason }
  }

  func cancel(_ make: (CallPhase) -> CancellationReason) {
    let now = runtime.clock.now
    let cancelled = state.withLock { state -> CallState.Cancelled? in
      let cancelled = state.cancel(at: now, make)
      if let cancelled { reporter?.enqueue(cancelled.event) }
      return cancelled
    }
    guard let cancelled else { return }
    announce()
    cancelled.canceller?.cancel()
  }

  /// Throws if the call was cancelled.
  func checkCancellation() throws {
    if let reason = cancellationReason { throw CallError(reason, of: self) }
  }

  // MARK: Ending

  /// Ends the call successfully. A call ends once.
  ///
  /// - Throws: ``CallError`` if the call was cancelled first.
  @inline(never)
  func succeed() throws(CallError) {
    if let reason = end(with: .succeeded) { throw CallError(reason, of: self) }
  }

  /// Ends the call with an error that was thrown while it ran, and returns the ``CallError`` for the app. If the call
  /// was cancelled first, the cancellation determines the error. The error is created after the last event.
  func fail(_ error: any Error) -> CallError {
    let failure = CallFailure(error, of: self)
    if let reason = end(with: .failed(failure.code)) { return CallError(reason, of: self) }
    return CallError(failure, CallRecord(of: self))
  }

  /// Converts the error of a streaming closure to the error that ends the call.
  func handlerError(_ error: any Error) -> any Error {
    if let error = error as? CallError, error.storage.record.key == key { return error }
    return CallFault(.handler, error.loggedReason, underlying: error)
  }

  /// Adds the last event. Returns the reason if the call was cancelled first.
  private func end(with kind: TraceEvent.Kind) -> CancellationReason? {
    let now = runtime.clock.now
    let ended = state.withLock { state -> CallState.End? in
      guard let ended = state.end(kind, at: now) else { return nil }
      reporter?.enqueue(ended.event)
      return ended
    }
    if let key = ended?.alarm { host.timer.cancel(key) }
    host.registry.remove(self)
    reporter?.deliver(of: self)
    if options.reportsProgress { finishProgress(isComplete: kind == .succeeded && ended?.reason == nil) }
    callerClockHold?.endAll()
    return ended?.reason
  }

  private func finishProgress(isComplete: Bool) {
    for progress in [options.uploadProgress, options.downloadProgress] { progress?.finish(isComplete: isComplete) }
  }
}

/// Time limits, with the rules of ``CallLimits``. One alarm of the client's timer enforces all limits of a call.
extension Call {
  /// Sets the deadline of the call, unless an earlier deadline is set.
  func setDeadline(_ instant: MonotonicInstant) {
    setAlarm(at: state.withLock { $0.limits.setDeadline(instant) })
  }

  /// Sets the default limit of the call.
  func setDefaultLimit(_ limit: CallTimeLimit) {
    setAlarm(at: state.withLock { $0.limits.setDefaultLimit(limit) })
  }

  private func setAlarm(at instant: MonotonicInstant?) {
    guard let instant else { return }
    let key = host.timer.schedule(self, at: instant)
    let superfluous = state.withLock { $0.limits.alarmSet(key, at: instant) }
    if let superfluous { host.timer.cancel(superfluous) }
  }

  /// Handles the alarm. Progress does not move the alarm, so the state decides whether the call is over.
  func deadlinePassed() {
    let now = runtime.clock.now
    let leaderContent = snapshot(\.leader)?.snapshot(\.limits.content)
    switch state.withLock({ $0.limits.alarmFired(at: now, leaderContent: leaderContent) }) {
    case .none: break
    case .setAlarm(let instant): setAlarm(at: instant)
    case .endCall: cancel { .deadline($0) }
    }
  }

  /// Notifies a target at an instant of the client's clock.
  func alarm(for target: any DeadlineTarget, at instant: MonotonicInstant) -> DeadlineAlarm {
    DeadlineAlarm(host.timer, host.timer.schedule(target, at: instant))
  }

  /// Shares the exchange of another call. From now on the default limit depends on the content of that exchange.
  func follow(_ leader: Call) {
    let now = runtime.clock.now
    let earlier = leader.snapshot { $0.limits.content.time(at: now) }
    state.withLock { $0.follow(leader, after: earlier) }
  }

  /// Returns the remaining time if no content is transferred from now on, or `nil` without a limit. Zero or negative
  /// once a limit has passed.
  func remaining(at now: MonotonicInstant) -> Duration? {
    snapshot { $0.remaining(at: now) }
  }
}
