public import ApusCore
import Synchronization

/// Gives calls permits to run: the handle on what runs, what waits and what is held back.
///
/// One can serve several clients, which then share its limits; they need to have the same clock, as they do by default.
///
/// ```swift
/// let scheduler = Scheduler(.apps)
/// let api = Client(baseURL: "https://api.example.com/v1") {
///   $0.scheduler = scheduler
/// }
/// scheduler.hold("images")       // on a weak network
/// _ = try await api.send(.users)
/// scheduler.release("images")
/// ```
public final class Scheduler: Sendable {
  typealias Ticket = SchedulerState.Ticket
  typealias Verdict = SchedulerState.Verdict

  /// Where the task of one that waits is, from the decision on.
  enum Wait: Sendable {
    case nobody
    /// It has not come to wait yet.
    case expected
    case waiting(CheckedContinuation<Verdict, any Error>)
    /// It was told before it came.
    case told(Verdict)
  }

  /// One that is told.
  struct Resumption: Sendable {
    let continuation: CheckedContinuation<Verdict, any Error>
    let verdict: Verdict

    func resume() { continuation.resume(returning: verdict) }
  }

  struct Shared: Sendable {
    var state: SchedulerState
    /// By the place in the ticket, which stays taken until its owner has left.
    var waits: [Wait] = []
    /// That of the clients, once one has come.
    var clock: (any MonotonicClock)?
  }

  let shared: Mutex<Shared>

  /// Makes a scheduler that nobody uses yet.
  ///
  /// - Parameter limits: how many run at a time. Default: as for an app.
  public init(_ limits: SchedulingLimits = .apps) {
    shared = Mutex(Shared(state: SchedulerState(limits)))
  }

  /// How many may run at a time, and how those that wait take turns.
  public var limits: SchedulingLimits { shared.withLock { $0.state.limits } }

  /// How many calls have a permit now.
  public var running: Int { shared.withLock { $0.state.running } }

  /// How many calls wait for one, those included that are held.
  public var waiting: Int { shared.withLock { $0.state.waiting } }

  /// Whether calls with a tag are held.
  public func isHolding(_ tag: Tag) -> Bool { shared.withLock { $0.state.isHolding(tag) } }

  /// Whether all calls are held.
  public var isHoldingEverything: Bool { shared.withLock { $0.state.isHeld } }

  /// Holds calls with a tag: those that run go on, none gets its turn until ``release(_:)``. To hold twice is to hold
  /// once.
  ///
  /// Their deadlines hold all the same, and so does the limit of those that wait: one that is held for longer than its
  /// `timeout`, by default 30 seconds, fails with the code `timeout`. Give those that are held for longer a longer one.
  public func hold(_ tag: Tag) {
    shared.withLock { $0.state.hold(tag) }
  }

  /// Lets calls with a tag go again.
  public func release(_ tag: Tag) {
    settle(nil) { $0.release(tag) }
  }

  /// Holds all calls, for example while the device is offline. Work for many others, such as fetching a token
  /// (``SharedWorkKey``), goes on. Deadlines hold as with ``hold(_:)``.
  public func holdEverything() {
    shared.withLock { $0.state.isHeld = true }
  }

  /// Lets calls go again, but for those with a tag that is held.
  public func releaseEverything() {
    settle(nil) { $0.isHeld = false }
  }
}
