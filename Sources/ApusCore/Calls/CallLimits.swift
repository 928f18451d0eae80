/// The time limits of a call and the alarm that is set for them: a pure state machine; ``Call`` sets and cancels alarms.
///
/// One alarm serves the deadline and the default limit. Only a nearer limit moves it; everything else is found out when it
/// rings.
struct CallLimits {
  /// What follows when the alarm rings.
  enum Ring: Hashable {
    case nothing
    case again(at: MonotonicInstant)
    case over
  }

  /// When the call is over in any case: by its own limit, an inherited one, or a middleware's.
  private(set) var deadline: MonotonicInstant?
  /// The limit of a call that sets none; `nil`: there is none, or it no longer applies.
  private(set) var defaultLimit: CallTimeLimit?
  private(set) var content = ContentMovement()
  /// Which part of the default limit ended the call; `nil`: none did.
  private(set) var expiry: CallTimeLimit.Expiry?
  private var alarm: (instant: MonotonicInstant, key: DeadlineTimer.Key)?
  /// Whether the response head of the present exchange has arrived.
  private var hasHead = false

  // MARK: Setting limits

  /// Sets a deadline, unless an earlier one is in force. Returns the instant to set an alarm for; `nil`: none is needed.
  mutating func setDeadline(_ instant: MonotonicInstant) -> MonotonicInstant? {
    if let deadline, deadline <= instant { return nil }
    deadline = instant
    return unlessSet(instant)
  }

  /// Sets the default limit, once. Returns the instant to set an alarm for; `nil`: none is needed.
  mutating func setDefaultLimit(_ limit: CallTimeLimit) -> MonotonicInstant? {
    guard defaultLimit == nil else { return nil }
    defaultLimit = limit
    return unlessSet(limit.firstCheck)
  }

  /// The default limit from now on heeds the content of a shared exchange, in which content had moved for `earlier`.
  mutating func shareExchange(after earlier: Duration) {
    defaultLimit = defaultLimit?.sharing(after: earlier)
  }

  /// The app reads the content at its own pace: the default limit no longer applies.
  mutating func endDefaultLimit() {
    defaultLimit = nil
  }

  private func unlessSet(_ instant: MonotonicInstant) -> MonotonicInstant? {
    if let alarm, alarm.instant <= instant { return nil }
    return instant
  }

  // MARK: The alarm

  /// An alarm was set. Returns the alarm that is no longer needed: the later of two.
  mutating func armed(_ key: DeadlineTimer.Key, at instant: MonotonicInstant) -> DeadlineTimer.Key? {
    if let alarm, alarm.instant <= instant { return key }
    defer { alarm = (instant, key) }
    return alarm?.key
  }

  /// The alarm rang.
  ///
  /// - Parameters:
  ///   - now: the present instant.
  ///   - leaderContent: how content moves in the exchange of another call that this one shares; `nil`: its own.
  mutating func rang(at now: MonotonicInstant, leaderContent: ContentMovement?) -> Ring {
    alarm = nil
    if let deadline, deadline <= now { return .over }
    guard let verdict = defaultLimit?.verdict(at: now, leaderContent ?? content) else {
      return deadline.map { .again(at: $0) } ?? .nothing
    }
    switch verdict {
    case .waits(let instant): return .again(at: deadline.map { min($0, instant) } ?? instant)
    case .over(let expiry):
      self.expiry = expiry
      return .over
    }
  }

  /// The call has ended. Returns the alarm to cancel.
  mutating func stop() -> DeadlineTimer.Key? {
    defer { alarm = nil }
    return alarm?.key
  }

  /// When the call is over unless content moves from now on; `nil`: no limit.
  func end(at now: MonotonicInstant) -> MonotonicInstant? {
    guard let due = defaultLimit?.due(content, at: now) else { return deadline }
    return deadline.map { min($0, due) } ?? due
  }

  // MARK: Content

  mutating func contentMoved(_ count: Int64, at now: MonotonicInstant) { content.moved(count, at: now) }

  mutating func contentPaused(at now: MonotonicInstant) { content.paused(at: now) }

  /// All request content was sent. Response content may move already.
  mutating func contentSent(at now: MonotonicInstant) {
    if !hasHead { content.paused(at: now) }
  }

  mutating func headArrived() { hasHead = true }

  mutating func exchangeStarted(at now: MonotonicInstant) {
    hasHead = false
    content.paused(at: now)
  }
}

/// The default time limit of a call, which does not count time in which content moves.
///
/// | content | what ends the call |
/// |---|---|
/// | does not move | ``limit`` since its start, not counting the time in which content moved |
/// | moves, in either direction | no byte for ``stall``, or less than ``floor`` bytes per second over ``window`` |
///
/// Between the request content and the response head no content moves, so the limit continues with the time that was left.
/// ``verdict(at:_:)`` is asked when an alarm rings, and says when to ask again: progress moves no alarm.
struct CallTimeLimit: Sendable {
  /// Which part of the limit ended a call.
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

  /// How long no byte may move unless the call says otherwise (``ExchangeTimeouts/stall``).
  static let standardStall = Duration.seconds(20)
  /// The average rate below which content is too slow, in bytes per second.
  static let floor: Int64 = 1 << 10
  /// The time over which the rate is averaged.
  static let window = Duration.seconds(60)

  let limit: Duration
  let stall: Duration
  /// When the call is over if no content moves.
  private let end: MonotonicInstant
  /// The present window: its start, the bytes before it, and the run of content it belongs to.
  private var current: (start: MonotonicInstant, bytes: Int64, run: MonotonicInstant)?

  /// Makes a limit.
  ///
  /// - Parameters:
  ///   - limit: how long the call may take while no content moves.
  ///   - stall: how long no byte may move. Default: ``standardStall``.
  ///   - start: when the call began.
  init(_ limit: Duration, stall: Duration = standardStall, since start: MonotonicInstant) {
    (self.limit, self.stall) = (limit, stall.bounded)
    end = start.advanced(by: limit)
  }

  private init(_ limit: Duration, stall: Duration, end: MonotonicInstant) {
    (self.limit, self.stall, self.end) = (limit, stall, end)
  }

  /// The limit of a call that shares an exchange in which content had moved for a time.
  func sharing(after earlier: Duration) -> CallTimeLimit {
    CallTimeLimit(limit, stall: stall, end: end.advanced(by: .zero - earlier))
  }

  /// When to ask first: content may begin to move at once, and stall.
  var firstCheck: MonotonicInstant { end.advanced(by: min(limit, interval) - limit) }

  /// When the call is over unless content moves from now on.
  func due(_ content: ContentMovement, at now: MonotonicInstant) -> MonotonicInstant {
    end.advanced(by: content.time(at: now))
  }

  /// Whether the call is over, or when to ask again.
  mutating func verdict(at now: MonotonicInstant, _ content: ContentMovement) -> Verdict {
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

  /// The longest time between two questions while no content moves, so that a stall is noticed in time.
  private var interval: Duration { max(stall, .seconds(1)) }
}

/// How the content of a call moves, in either direction.
struct ContentMovement: Sendable {
  /// When content began to move, and how many bytes had moved before; `nil`: none moves now.
  private(set) var run: (start: MonotonicInstant, bytes: Int64)?
  /// When a byte moved last.
  private(set) var last = MonotonicInstant(sinceStart: .zero)
  /// All bytes that have moved.
  private(set) var bytes: Int64 = 0
  /// How long content moved in earlier runs.
  private var past = Duration.zero

  /// Counts bytes that have moved since the last report.
  mutating func moved(_ count: Int64, at now: MonotonicInstant) {
    if run == nil { run = (now, bytes) }
    bytes += max(0, count)
    last = max(last, now)
  }

  /// Content no longer moves: all of it is there, or its exchange is over.
  mutating func paused(at now: MonotonicInstant) {
    guard let run else { return }
    past += max(.zero, run.start.duration(to: now))
    self.run = nil
  }

  /// How long content has moved altogether.
  func time(at now: MonotonicInstant) -> Duration {
    past + (run.map { max(.zero, $0.start.duration(to: now)) } ?? .zero)
  }
}
