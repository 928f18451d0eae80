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
