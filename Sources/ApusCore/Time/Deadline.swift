import Synchronization

/// A deadline that calls inherit from the surrounding work, see ``withDeadline(_:on:_:)``.
///
/// Calls inherit the deadline of ``withDeadline(_:on:_:)`` and, in the closure of a client's `withResponse`, the limit
/// of that call. Task groups, `async let` and `Task { }` propagate it. `Task.detached { }` does not, nor do a
/// credentials refresh or a coalesced exchange, because they serve several calls. After the work has ended, calls that
/// begin later do not inherit its deadline, even in tasks that the work left running.
package struct Deadline: Sendable {
  private let instant: MonotonicInstant
  private let clock: any MonotonicClock

  init(_ instant: MonotonicInstant, on clock: any MonotonicClock) {
    (self.instant, self.clock) = (instant, clock)
  }

  /// The deadline of the surrounding work, or `nil` if calls made here inherit no deadline.
  package static var current: Deadline? { DeadlineScope.inherited() }

  /// The remaining time. Zero or negative once the deadline has passed.
  package var remaining: Duration { clock.now.duration(to: instant) }

  /// Returns the deadline on another clock. Instants of different clocks are not comparable, so the remaining time is
  /// used.
  func instant(on other: any MonotonicClock) -> MonotonicInstant {
    clock.isSame(as: other) ? instant : other.now.advanced(by: remaining)
  }

  /// Returns the earlier of two deadlines.
  func earlier(of other: Deadline?) -> Deadline {
    guard let other, other.instant(on: clock) < instant else { return self }
    return other
  }
}

extension MonotonicClock {
  /// Whether instants of both clocks are comparable.
  fileprivate func isSame(as other: any MonotonicClock) -> Bool {
    if self is SystemClock { return other is SystemClock }
    guard let own = self as? (any MonotonicClock & AnyObject), let other = other as? (any MonotonicClock & AnyObject)
    else { return false }
    return own === other
  }
}

/// The scope of work with a deadline, kept in a task-local value.
///
/// A task that outlives the work is bound only by the outer scopes.
final class DeadlineScope: Sendable {
  // An array rather than links to the outer scope, because an inner scope may outlive an outer scope.
  /// The surrounding scopes, outermost first.
  @TaskLocal private static var scopes: [DeadlineScope] = []

  private let deadline: Deadline
  private let hasEnded = Atomic(false)

  private init(_ deadline: Deadline) {
    self.deadline = deadline
  }

  private var isOver: Bool { hasEnded.load(ordering: .acquiring) }

  /// The surrounding scopes that have not ended.
  static var here: [DeadlineScope] { scopes.filter { !$0.isOver } }

  /// Returns the earliest deadline of the scopes that have not ended.
  static func inherited(except others: [DeadlineScope] = []) -> Deadline? {
    scopes.reduce(nil) { nearest, scope in
      scope.isOver || others.contains { $0 === scope } ? nearest : scope.deadline.earlier(of: nearest)
    }
  }

  /// Performs work whose calls inherit the deadline, or the deadline of a surrounding scope if that is earlier.
  static func perform<Output, Failure: Error>(
    until deadline: Deadline, isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws(Failure) -> Output
  ) async -> Result<Output, Failure> {
    let scope = DeadlineScope(deadline)
    defer { scope.hasEnded.store(true, ordering: .releasing) }
    // Scopes that have ended are dropped, because they would accumulate in a chain of tasks that start each other.
    return await $scopes.withValue(here + [scope]) {
      // Captured, so that this closure and `work` run on the caller's actor rather than on the global pool.
      _ = isolation
      do throws(Failure) {
        return Result<Output, Failure>.success(try await work())
      } catch {
        return Result<Output, Failure>.failure(error)
      }
    }
  }

  /// Calls a function that starts a task. The task inherits no deadline.
  static func without<Output>(_ start: () -> Output) -> Output {
    scopes.isEmpty ? start() : $scopes.withValue([]) { start() }
  }
}

/// Performs work with a deadline that all calls in it inherit, whether they run one after another or concurrently.
///
/// ```swift
/// let screen = try await withDeadline(.seconds(5)) {
///   let me = try await api.send(Request<User>.get("/me"))
///   return try await api.send(Request<[User]>.get("/users/\(me.id)/friends"))
/// }
/// ```
///
/// A call that is running at the deadline fails with the code `timeout` and its phase, as with
/// ``Endpoint/timeout(_:)``. A call that begins later sends nothing. An earlier limit, of a call or of surrounding
/// work, stays in effect. The function only ends calls: it starts no task and cancels none. Swift infers `any Error`
/// for a closure; write `{ () async throws(CallError) in … }` to keep the type.
///
/// A client whose clock differs from `clock`, as in a test, measures the remaining time with its own clock. To use a
/// client's clock throughout, use ``Client/withDeadline(_:_:)``.
///
/// - Parameters:
///   - limit: the time limit of all calls together. If it is zero or negative, no call is sent.
///   - clock: the clock that measures the time. Default: the system's clock.
///   - work: makes the calls. Runs on the caller's actor.
/// - Returns: the result of `work`.
/// - Throws: the error of `work`.
public func withDeadline<Output, Failure: Error>(
  _ limit: Duration, on clock: any MonotonicClock = SystemClock(), _ work: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  let deadline = Deadline(clock.now.advanced(by: limit), on: clock)
  return try await DeadlineScope.perform(until: deadline, work).get()
}
