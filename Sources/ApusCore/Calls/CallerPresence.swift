import Synchronization

/// The steps of a call outside the client's tasks: before its task starts, and after its task has ended. Meanwhile a
/// clock that advances by itself stands still, because it knows only the tasks.
final class CallerPresence: Sendable {
  private let clock: any SelfAdvancingClock
  private let count = Mutex(0)

  /// Begins with the first steps.
  init(_ clock: any SelfAdvancingClock) {
    self.clock = clock
    begin()
  }

  func begin() {
    count.withLock { $0 += 1 }
    clock.hold()
  }

  func end() {
    count.withLock { $0 -= 1 }
    clock.release()
  }

  /// Ends all steps that have begun.
  func endAll() {
    let rest = count.withLock { count in
      defer { count = 0 }
      return count
    }
    for _ in 0..<max(0, rest) { clock.release() }
  }

  deinit {
    endAll()
  }
}
