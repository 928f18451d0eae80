import Synchronization

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

/// Work with a deadline, as the calls see it that are made in it: a task-local value.
///
/// A task that outlives the work is bound by what is around it only.
final class DeadlineScope: Sendable {
  /// All that is done here, the outermost first. None keeps another: one that began inside may end later.
  @TaskLocal private static var scopes: [DeadlineScope] = []

  private let deadline: Deadline
  private let hasEnded = Atomic(false)

  private init(_ deadline: Deadline) {
    self.deadline = deadline
  }

  private var isOver: Bool { hasEnded.load(ordering: .acquiring) }

  /// All that is done here and not over.
  static var here: [DeadlineScope] { scopes.filter { !$0.isOver } }

  /// What calls inherit that are made here: the nearest one of work that is not over.
  static func inherited(except others: [DeadlineScope] = []) -> Deadline? {
    scopes.reduce(nil) { nearest, scope in
      scope.isOver || others.contains { $0 === scope } ? nearest : scope.deadline.earlier(of: nearest)
    }
  }

  /// Does work whose calls inherit a deadline, or an earlier one that is in force here already.
  static func perform<Output, Failure: Error>(
    until deadline: Deadline, isolation: isolated (any Actor)? = #isolation,
    _ work: () async throws(Failure) -> Output
  ) async -> Result<Output, Failure> {
    let scope = DeadlineScope(deadline)
    defer { scope.hasEnded.store(true, ordering: .releasing) }
    // What is over is not kept: tasks that begin each other in such work, again and again, would gather it.
    return await $scopes.withValue(here + [scope]) {
      // Captured, so that this runs where the caller runs: it would run on the global pool, and `work` with it.
      _ = isolation
      do throws(Failure) {
        return Result<Output, Failure>.success(try await work())
      } catch {
        return Result<Output, Failure>.failure(error)
      }
    }
  }

  /// Starts something that inherits no deadline.
  static func without<Output>(_ start: () -> Output) -> Output {
    scopes.isEmpty ? start() : $scopes.withValue([]) { start() }
  }
}

/// Does work that may make any number of calls, one after the other or side by side, within one time limit.
///
/// ```swift
/// let screen = try await withDeadline(.seconds(5)) {
///   let me = try await api.send(Request<User>.get("/me"))
///   return try await api.send(Request<[User]>.get("/users/\(me.id)/friends"))
/// }
/// ```
///
/// It ends calls, and nothing else: one that runs when the time is up ends with the code `timeout` and the phase it was
/// in, as with a limit of its own; one that begins later sends nothing. A nearer limit, of a call or of other work that
/// this is done in, stays in force. It starts no task, and cancels none. In a closure Swift infers `any Error`: write
/// `{ () async throws(CallError) in … }` to keep the type.
///
/// Clients with another clock than `clock`, as in a test, count on with theirs what was left when a call began. To
/// count by a client's clock from the start use ``Client/withDeadline(_:_:)``.
///
/// - Parameters:
///   - limit: how long the calls may take together. Not positive: none of them is sent.
///   - clock: counts the time. Default: the system's.
///   - work: makes the calls; runs where the caller runs.
/// - Returns: what `work` returns.
/// - Throws: what `work` throws.
public func withDeadline<Output, Failure: Error>(
  _ limit: Duration, on clock: any MonotonicClock = SystemClock(), _ work: () async throws(Failure) -> Output
) async throws(Failure) -> Output {
  let deadline = Deadline(clock.now.advanced(by: limit), on: clock)
  return try await DeadlineScope.perform(until: deadline, work).get()
}
