/// The time limits of a call and the alarm that enforces them. A pure state machine; ``Call`` sets and cancels
/// alarms.
///
/// One alarm serves the deadline and the default limit. Only an earlier limit moves the alarm; all other changes are
/// checked when the alarm goes off.
struct CallLimits {
  /// The action to perform when the alarm goes off.
  enum AlarmAction: Hashable {
    case none
    case setAlarm(at: MonotonicInstant)
    case endCall
  }

  /// The instant at which the call ends in any case: the earliest of its own deadline, the inherited deadline and the
  /// deadlines set by middlewares.
  private(set) var deadline: MonotonicInstant?
  /// The default limit, for a call that sets no timeout. `nil` if the call has no default limit or the limit no longer
  /// applies.
  private(set) var defaultLimit: CallTimeLimit?
  private(set) var content = ContentTransfer()
  /// The part of the default limit that ended the call, or `nil`.
  private(set) var expiry: CallTimeLimit.Expiry?
  private var alarm: (instant: MonotonicInstant, key: DeadlineTimer.Key)?
  /// Whether the response head of the current exchange has arrived.
  private var hasHead = false
  /// Whether the call has ended. All further changes have no effect.
  private var isStopped = false

  // MARK: Setting limits

  /// Sets a deadline, unless an earlier deadline is set. Returns the instant for which to set an alarm, or `nil` if
  /// none is needed.
  mutating func setDeadline(_ instant: MonotonicInstant) -> MonotonicInstant? {
    if isStopped { return nil }
    if let deadline, deadline <= instant { return nil }
    deadline = instant
    return earlierAlarm(instant)
  }

  /// Sets the default limit, unless it is already set. Returns the instant for which to set an alarm, or `nil` if none
  /// is needed.
  mutating func setDefaultLimit(_ limit: CallTimeLimit) -> MonotonicInstant? {
    guard !isStopped, defaultLimit == nil else { return nil }
    defaultLimit = limit
    return earlierAlarm(limit.firstCheck)
  }

  /// Adapts the default limit when the call joins an exchange.
  ///
  /// - Parameter earlier: the time during which the exchange has already transferred content.
  mutating func shareExchange(after earlier: Duration) {
    defaultLimit = defaultLimit?.sharing(after: earlier)
  }

  /// Removes the default limit, because the app reads the content at its own pace.
  mutating func endDefaultLimit() {
    defaultLimit = nil
  }

  /// Returns `instant`, unless an alarm goes off at or before that instant.
  private func earlierAlarm(_ instant: MonotonicInstant) -> MonotonicInstant? {
    if let alarm, alarm.instant <= instant { return nil }
    return instant
  }

  // MARK: The alarm

  /// Records an alarm that was set. Returns the alarm to cancel, if any: the later of the old and the new alarm, or the
  /// new alarm if the call has ended.
  mutating func alarmSet(_ key: DeadlineTimer.Key, at instant: MonotonicInstant) -> DeadlineTimer.Key? {
    if isStopped { return key }
    if let alarm, alarm.instant <= instant { return key }
    defer { alarm = (instant, key) }
    return alarm?.key
  }

  /// Handles the alarm.
  ///
  /// - Parameters:
  ///   - now: the current instant.
  ///   - leaderContent: the content transfer of the leader whose exchange this call shares, or `nil` if the call has
  ///     its own exchange.
  mutating func alarmFired(at now: MonotonicInstant, leaderContent: ContentTransfer?) -> AlarmAction {
    alarm = nil
    if isStopped { return .none }
    if let deadline, deadline <= now { return .endCall }
    guard let verdict = defaultLimit?.verdict(at: now, leaderContent ?? content) else {
      return deadline.map { .setAlarm(at: $0) } ?? .none
    }
    switch verdict {
    case .waits(let instant): return .setAlarm(at: deadline.map { min($0, instant) } ?? instant)
    case .over(let expiry):
      self.expiry = expiry
      return .endCall
    }
  }

  /// Ends the limits of a call that has ended. Returns the alarm to cancel, if any.
  mutating func stop() -> DeadlineTimer.Key? {
    defer { (alarm, isStopped) = (nil, true) }
    return alarm?.key
  }

  /// Returns the instant at which the call ends if no content is transferred from now on, or `nil` without a limit.
  func end(at now: MonotonicInstant) -> MonotonicInstant? {
    guard let due = defaultLimit?.due(content, at: now) else { return deadline }
    return deadline.map { min($0, due) } ?? due
  }

  // MARK: Content

  mutating func contentMoved(_ count: Int64, at now: MonotonicInstant) { content.moved(count, at: now) }

  mutating func contentPaused(at now: MonotonicInstant) { content.paused(at: now) }

  /// Records that all request content was sent. Response content may already be arriving.
  mutating func contentSent(at now: MonotonicInstant) {
    if !hasHead { content.paused(at: now) }
  }

  mutating func headArrived() { hasHead = true }

  mutating func exchangeStarted(at now: MonotonicInstant) {
    hasHead = false
    content.paused(at: now)
  }
}

/// The default time limit of a call. Time during which content (body) is transferred does not count.
///
/// | content | the call ends after |
/// |---|---|
/// | is not transferred | ``limit`` since the start of the call, not counting time with content transfer |
/// | is transferred, in either direction | ``stall`` without a byte, or ``window`` below ``floor`` bytes per second |
///
/// Between the request content and the response head no content is transferred, so the limit continues with the
/// remaining time. ``verdict(at:_:)`` is called when an alarm goes off and returns the instant of the next check, so
/// that progress does not move the alarm.
struct CallTimeLimit: Sendable {
  /// The part of the limit that ended a call.
  enum Expiry: Hashable, Sendable {
    case total
    case stall
    case floor
  }

  enum Verdict: Hashable, Sendable {
    /// The call is not over before this instant.
    case waits(until: MonotonicInstant)
    case over(Expiry)
  }

  /// The default stall timeout, for calls that do not set ``ExchangeTimeouts/stall``.
  static let defaultStall = Duration.seconds(20)
  /// The minimum average rate of a transfer, in bytes per second.
  static let floor: Int64 = 1 << 10
  /// The time over which the rate is averaged.
  static let window = Duration.seconds(60)

  let limit: Duration
  let stall: Duration
  /// The instant at which the call ends if no content is transferred.
  private let end: MonotonicInstant
  /// The current window: its start, the number of bytes before it, and the start of the transfer that it belongs to.
  private var current: (start: MonotonicInstant, bytes: Int64, run: MonotonicInstant)?

  /// Creates a limit.
  ///
  /// - Parameters:
  ///   - limit: the maximum duration of the call, not counting content transfer.
  ///   - stall: the maximum time without progress during a transfer. Default: ``defaultStall``.
  ///   - start: the instant at which the call began.
  init(_ limit: Duration, stall: Duration = defaultStall, since start: MonotonicInstant) {
    (self.limit, self.stall) = (limit, stall.bounded)
    end = start.advanced(by: limit)
  }

  private init(_ limit: Duration, stall: Duration, end: MonotonicInstant) {
    (self.limit, self.stall, self.end) = (limit, stall, end)
  }

  /// Returns the limit for a call that joins an exchange. `earlier` is the time during which the exchange has already
  /// transferred content; it does not extend the limit.
  func sharing(after earlier: Duration) -> CallTimeLimit {
    CallTimeLimit(limit, stall: stall, end: end.advanced(by: .zero - earlier))
  }

  /// The instant of the first check, early enough for a transfer that begins immediately and stalls.
  var firstCheck: MonotonicInstant { end.advanced(by: min(limit, interval) - limit) }

  /// Returns the instant at which the call ends if no content is transferred from now on.
  func due(_ content: ContentTransfer, at now: MonotonicInstant) -> MonotonicInstant {
    end.advanced(by: content.time(at: now))
  }

  /// Returns whether the call is over, or the instant of the next check.
  mutating func verdict(at now: MonotonicInstant, _ content: ContentTransfer) -> Verdict {
    guard let run = content.run else {
      let due = due(content, at: now)
      return due <= now ? .over(.total) : .waits(until: min(due, now.advanced(by: interval)))
    }
    let stalled = content.last.advanced(by: stall)
    var window = current ?? (run.start, run.bytes, run.start)
    if window.run != run.start { window = (run.start, run.bytes, run.start) }
    let end = window.start.advanced(by: Self.window)
    if end <= now {
      let least = Self.floor * Self.window.components.seconds
      guard content.bytes - window.bytes >= least else { return .over(stalled <= end ? .stall : .floor) }
      window = (now, content.bytes, run.start)
    }
    current = window
    guard stalled > now else { return .over(.stall) }
    return .waits(until: min(stalled, window.start.advanced(by: Self.window)))
  }

  /// The maximum time between two checks while no content is transferred, so that a stall is noticed in time.
  private var interval: Duration { max(stall, .seconds(1)) }
}

/// The transfer of a call's content, in either direction.
struct ContentTransfer: Sendable {
  /// The start of the current transfer and the number of bytes before it, or `nil` if no content is being
  /// transferred.
  private(set) var run: (start: MonotonicInstant, bytes: Int64)?
  /// The instant of the last progress.
  private(set) var last = MonotonicInstant(sinceStart: .zero)
  /// The total number of bytes transferred.
  private(set) var bytes: Int64 = 0
  /// The total duration of earlier transfers.
  private var past = Duration.zero

  /// Adds the bytes transferred since the last report.
  mutating func moved(_ count: Int64, at now: MonotonicInstant) {
    if run == nil { run = (now, bytes) }
    bytes += max(0, count)
    last = max(last, now)
  }

  /// Ends the current transfer, because the content is complete or its exchange is over.
  mutating func paused(at now: MonotonicInstant) {
    guard let run else { return }
    past += max(.zero, run.start.duration(to: now))
    self.run = nil
  }

  /// Returns the total duration of all transfers.
  func time(at now: MonotonicInstant) -> Duration {
    past + (run.map { max(.zero, $0.start.duration(to: now)) } ?? .zero)
  }
}
