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
