import ApusCore

/// The pending sleepers, ordered by wake-up time, and the work that prevents the clock from advancing automatically. A
/// pure state machine: `advance` returns the sleepers to resume.
struct ManualClockState<Sleeper: Sendable>: Sendable {
  enum Admission: Sendable {
    case sleeps
    case passed
    case cancelled
  }

  /// The reason for a sleep.
  enum Wait: Sendable, Hashable {
    /// The sleep limits work that continues meanwhile.
    case timeout
    /// The sleep delays work, which is part of the given surrounding work.
    case delay(within: [UInt64] = [])

    fileprivate func isPart(of work: UInt64) -> Bool {
      if case .delay(let surroundings) = self { surroundings.contains(work) } else { false }
    }
  }

  private struct Entry: Sendable {
    let id: UInt64
    let instant: MonotonicInstant
    let wait: Wait
    let sleeper: Sleeper
  }

  private(set) var now: MonotonicInstant
  private let isAutomatic: Bool
  /// The number of running or enqueued jobs, plus the steps of callers.
  var jobs = 0
  /// The work that waits for events outside of the clients.
  private var outsideWork: Set<UInt64> = []
  /// The sleepers by instant, earliest first; sleepers with the same instant in order of arrival.
  private var entries: [Entry] = []
  private var lastID: UInt64 = 0

  init(now: MonotonicInstant, isAutomatic: Bool) {
    self.now = now
    self.isAutomatic = isAutomatic
  }

  var count: Int { entries.count }
  var nextWake: MonotonicInstant? { entries.first?.instant }

  mutating func newID() -> UInt64 {
    lastID += 1
    return lastID
  }

  /// Adds a sleeper, unless the instant has passed.
  mutating func sleep(_ sleeper: Sleeper, until instant: MonotonicInstant, id: UInt64, wait: Wait) -> Admission {
    guard instant > now else { return .passed }
    let index = entries.firstIndex { $0.instant > instant } ?? entries.count
    entries.insert(Entry(id: id, instant: instant, wait: wait, sleeper: sleeper), at: index)
    return .sleeps
  }

  /// Removes a cancelled sleeper and returns it, or `nil` if it was not sleeping.
  mutating func cancel(id: UInt64) -> Sleeper? {
    entries.firstIndex { $0.id == id }.map { entries.remove(at: $0).sleeper }
  }

  /// Advances the time and returns the sleepers to resume, earliest first.
  mutating func advance(to instant: MonotonicInstant) -> [Sleeper] {
    guard instant > now else { return [] }
    now = instant
    let woken = entries.prefix { $0.instant <= instant }.map(\.sleeper)
    entries.removeFirst(woken.count)
    return woken
  }

  /// Advances to the next wake-up time and returns the sleepers to resume.
  mutating func advanceToNextWake() -> [Sleeper] {
    nextWake.map { advance(to: $0) } ?? []
  }

  // MARK: Advancing automatically

  mutating func begin(_ work: UInt64) {
    outsideWork.insert(work)
  }

  mutating func end(_ work: UInt64) {
    outsideWork.remove(work)
  }

  /// Whether the clock may advance: work is delayed until an instant, and all other work waits.
  ///
  /// - Parameter ownJobs: the number of jobs not counted. Default: 0.
  func isIdle(besides ownJobs: Int = 0) -> Bool {
    guard isAutomatic, jobs == ownJobs, let nextWake, nextWake < .never else { return false }
    guard entries.contains(where: { $0.wait != .timeout }) else { return false }
    return outsideWork.allSatisfy { work in entries.contains { $0.wait.isPart(of: work) } }
  }
}

extension MonotonicInstant {
  /// An instant that no test reaches.
  static let never = MonotonicInstant(sinceStart: .zero).advanced(by: .seconds(Int64.max))
}
