/// The time limits of a call, and the alarm that is set for them: pure; ``Call`` does what it answers.
///
/// There is one alarm for both limits. Only a nearer limit moves it; everything else is found out when it rings.
struct CallLimits {
  /// What follows when the alarm rings.
  enum Ring: Hashable {
    case nothing
    case again(at: MonotonicInstant)
    case over
  }

  /// When the call is over whatever happens: its own limit, that of the work it is made in, a middleware's.
  private(set) var deadline: MonotonicInstant?
  /// The default, for a call that sets no limit of its own.
  private(set) var standard: CallTimeLimit?
  var movement = ContentMovement()
  /// Which part of the default ended the call; `nil`: none has.
  private(set) var expiry: CallTimeLimit.Expiry?
  private var alarm: (instant: MonotonicInstant, key: DeadlineTimer.Key)?

  /// Takes a deadline, unless an earlier one is in force. Answers when an alarm is to be set; `nil`: at no time.
  mutating func limit(to instant: MonotonicInstant) -> MonotonicInstant? {
    if let deadline, deadline <= instant { return nil }
    deadline = instant
    return unlessSet(instant)
  }

  /// Takes the default limit, once. Answers when an alarm is to be set; `nil`: at no time.
  mutating func limit(by standard: CallTimeLimit) -> MonotonicInstant? {
    guard self.standard == nil else { return nil }
    self.standard = standard
    return unlessSet(standard.firstCheck)
  }

  /// The content that the default limit heeds belongs to an exchange that had gone on before.
  mutating func shareExchange(after earlier: Duration) {
    standard = standard?.sharing(after: earlier)
  }

  /// From now on the app itself reads the content, at its own pace: the default limit has no say any more.
  mutating func endStandard() {
    standard = nil
  }

  private func unlessSet(_ instant: MonotonicInstant) -> MonotonicInstant? {
    if let alarm, alarm.instant <= instant { return nil }
    return instant
  }

  /// An alarm was set. Answers the one to take back, of the two the later.
  mutating func armed(_ key: DeadlineTimer.Key, at instant: MonotonicInstant) -> DeadlineTimer.Key? {
    if let alarm, alarm.instant <= instant { return key }
    defer { alarm = (instant, key) }
    return alarm?.key
  }

  /// The alarm rang.
  ///
  /// - Parameters:
  ///   - now: the present instant.
  ///   - shared: the movement of content in the exchange of another call that this one shares; `nil`: its own.
  mutating func rang(at now: MonotonicInstant, _ shared: ContentMovement?) -> Ring {
    alarm = nil
    if let deadline, deadline <= now { return .over }
    guard let verdict = standard?.verdict(at: now, shared ?? movement) else {
      return deadline.map { .again(at: $0) } ?? .nothing
    }
    switch verdict {
    case .waits(let instant): return .again(at: deadline.map { min($0, instant) } ?? instant)
    case .over(let expiry):
      self.expiry = expiry
      return .over
    }
  }

  /// When the call is over unless content moves from now on; `nil`: no limit.
  func end(at now: MonotonicInstant) -> MonotonicInstant? {
    guard let due = standard?.due(movement, at: now) else { return deadline }
    return deadline.map { min($0, due) } ?? due
  }

  /// The call has ended. Answers the alarm to take back.
  mutating func stop() -> DeadlineTimer.Key? {
    defer { alarm = nil }
    return alarm?.key
  }
}

/// The default time limit of a call, which does not count time in which content moves: pure.
///
/// | content | what ends the call |
/// |---|---|
/// | does not move | ``limit`` since its start, not counting the time in which content moved |
/// | moves, in either direction | no byte for ``stall``, or less than ``floor`` a second over ``window`` |
///
/// Between a request's content and the response head no content moves, so the limit goes on with the time that was left.
/// ``verdict(at:_:)`` is asked when an alarm rings, and says when to ask again: progress moves no alarm.
struct CallTimeLimit: Sendable {
  /// Which part of the limit ended a call.
  enum Expiry: Hashable, Sendable {
    case total
    case stall
    case floor
  }

  enum Verdict: Hashable, Sendable {
    /// It is not over before this instant.
    case waits(until: MonotonicInstant)
    case over(Expiry)
  }

  /// How long no byte may move unless the call says otherwise (``ExchangeTimeouts/stall``).
  static let standardStall = Duration.seconds(20)
  /// The bytes a second that content must move with on average.
  static let floor: Int64 = 1 << 10
  /// What the average is taken over.
  static let window = Duration.seconds(60)

  let limit: Duration
  let stall: Duration
  /// When the call is over if no content moves.
  private let end: MonotonicInstant
  /// The present window: when it began, how much had moved by then, and the run of content it belongs to.
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

  /// The same for a call that shares an exchange whose content had moved for a time.
  func sharing(after earlier: Duration) -> CallTimeLimit {
    CallTimeLimit(limit, stall: stall, end: end.advanced(by: .zero - earlier))
  }

  /// When to ask first: content may begin to move at once, and stall.
  var firstCheck: MonotonicInstant { end.advanced(by: min(limit, interval) - limit) }

  /// When the call is over unless content moves from now on.
  func due(_ movement: ContentMovement, at now: MonotonicInstant) -> MonotonicInstant {
    end.advanced(by: movement.time(at: now))
  }

  /// Whether the call is over, or when to ask again.
  mutating func verdict(at now: MonotonicInstant, _ movement: ContentMovement) -> Verdict {
    guard let run = movement.run else {
      let due = due(movement, at: now)
      return due <= now ? .over(.total) : .waits(until: min(due, now.advanced(by: interval)))
    }
    let stalled = movement.last.advanced(by: stall)
    var window = current ?? (run.start, run.bytes, run.start)
    if window.run != run.start { window = (run.start, run.bytes, run.start) }
    let end = window.start.advanced(by: Self.window)
    if end <= now {
      let least = Self.floor * Self.window.components.seconds
      guard movement.bytes - window.bytes >= least else { return .over(stalled <= end ? .stall : .floor) }
      window = (now, movement.bytes, run.start)
    }
    current = window
    guard stalled > now else { return .over(.stall) }
    return .waits(until: min(stalled, window.start.advanced(by: Self.window)))
  }

  /// The longest time between two questions while no content moves, so that a stall is noticed when it is due.
  private var interval: Duration { max(stall, .seconds(1)) }
}

/// How the content of a call moves, in either direction: pure.
///
/// Time in which content moves is told apart from time in which it does not: the default limit of a call
/// (``CallTimeLimit``) counts the latter alone.
struct ContentMovement: Sendable {
  /// When content began to move, and how much had moved before; `nil`: none moves now.
  private(set) var run: (start: MonotonicInstant, bytes: Int64)?
  /// When a byte moved last.
  private(set) var last = MonotonicInstant(sinceStart: .zero)
  /// All bytes that have moved.
  private(set) var bytes: Int64 = 0
  /// Whether the head of the answer to the present exchange is there.
  var isAnswered = false
  /// How long content has moved in runs that are over.
  private var past = Duration.zero

  /// So many bytes have moved since the last report.
  mutating func moved(_ count: Int64, at now: MonotonicInstant) {
    if run == nil { run = (now, bytes) }
    bytes += max(0, count)
    last = max(last, now)
  }

  /// Content does not move any more: all of it is there, or its exchange is over.
  mutating func paused(at now: MonotonicInstant) {
    guard let run else { return }
    past += max(.zero, run.start.duration(to: now))
    self.run = nil
  }

  /// How long content has moved in all.
  func time(at now: MonotonicInstant) -> Duration {
    past + (run.map { max(.zero, $0.start.duration(to: now)) } ?? .zero)
  }
}
