/// When the calls must be over that some work makes, see ``withDeadline(_:on:_:)``.
///
/// Calls inherit it from the work they are made in: that of ``withDeadline(_:on:_:)``, and the closure of
/// a client's `withResponse` where its call has a limit. Task groups, `async let` and `Task { }` pass it on;
/// `Task.detached { }` does not, and neither does what serves several calls: a refresh, or an exchange they share. Once
/// the work is over it binds no call that begins then, also in tasks it left running.
public struct Deadline: Sendable {
  private let instant: MonotonicInstant
  private let clock: any MonotonicClock

  init(_ instant: MonotonicInstant, on clock: any MonotonicClock) {
    (self.instant, self.clock) = (instant, clock)
  }

  /// That of the work that is done here; `nil`: calls made here inherit none.
  public static var current: Deadline? { DeadlineScope.inherited() }

  /// How much time is left; not positive once it has passed.
  public var remaining: Duration { clock.now.duration(to: instant) }

  /// The same on another clock. Instants of two clocks say nothing to each other: what is left is taken over then.
  func instant(on other: any MonotonicClock) -> MonotonicInstant {
    clock.isSame(as: other) ? instant : other.now.advanced(by: remaining)
  }

  /// The one that comes first.
  func earlier(of other: Deadline?) -> Deadline {
    guard let other, other.instant(on: clock) < instant else { return self }
    return other
  }
}

extension MonotonicClock {
  /// Whether both count from the same start.
  fileprivate func isSame(as other: any MonotonicClock) -> Bool {
    if self is SystemClock { return other is SystemClock }
    guard let own = self as? (any MonotonicClock & AnyObject), let other = other as? (any MonotonicClock & AnyObject)
    else { return false }
    return own === other
  }
}
