import ApusCore

/// Who sleeps until when: pure; the clock resumes those it answers.
struct ManualClockState<Sleeper: Sendable>: Sendable {
  enum Answer: Sendable {
    case sleeps
    case passed
    case cancelled
  }

  private struct Entry: Sendable {
    let id: UInt64
    let instant: MonotonicInstant
    let sleeper: Sleeper
  }

  private(set) var now: MonotonicInstant
  /// Earliest first; those of one instant in the order in which they came.
  private var entries: [Entry] = []
  private var lastID: UInt64 = 0

  init(now: MonotonicInstant) {
    self.now = now
  }

  var count: Int { entries.count }
  var nextWake: MonotonicInstant? { entries.first?.instant }

  mutating func newID() -> UInt64 {
    lastID += 1
    return lastID
  }

  /// A task wants to sleep.
  mutating func sleep(_ sleeper: Sleeper, until instant: MonotonicInstant, id: UInt64) -> Answer {
    guard instant > now else { return .passed }
    let index = entries.firstIndex { $0.instant > instant } ?? entries.count
    entries.insert(Entry(id: id, instant: instant, sleeper: sleeper), at: index)
    return .sleeps
  }

  /// A task is cancelled. Answers its sleeper when it slept.
  mutating func cancel(id: UInt64) -> Sleeper? {
    entries.firstIndex { $0.id == id }.map { entries.remove(at: $0).sleeper }
  }

  /// Time goes on. Answers who wakes, earliest first.
  mutating func advance(to instant: MonotonicInstant) -> [Sleeper] {
    guard instant > now else { return [] }
    now = instant
    let woken = entries.prefix { $0.instant <= instant }.map(\.sleeper)
    entries.removeFirst(woken.count)
    return woken
  }
}
