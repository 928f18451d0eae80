import ApusCore

/// The validations of stale responses: at most one at a time for each response, and none within a second after one that
/// failed. A pure state machine.
struct RevalidationState: Sendable {
  private struct Failure: Sendable {
    let cause: CacheFailure
    let instant: MonotonicInstant
  }

  /// The time after a failed validation during which no other one begins.
  static let pause = Duration.seconds(1)
  /// The maximum number of responses whose failure is known. Further failures are not recorded.
  static let capacity = 1024

  private var running: Set<UInt64> = []
  private var failures: [UInt64: Failure] = [:]

  /// The number of responses that are being validated in the background.
  var runningCount: Int { running.count }

  /// Begins a validation in the background. Returns `false` if none may begin.
  mutating func start(_ id: UInt64, now: MonotonicInstant) -> Bool {
    guard recentFailure(of: id, now: now) == nil else { return false }
    return running.insert(id).inserted
  }

  /// Ends a validation in the background.
  ///
  /// - Parameter failure: `nil`: the server has responded.
  mutating func end(_ id: UInt64, after failure: CacheFailure?, now: MonotonicInstant) {
    running.remove(id)
    if let failure { fail(id, failure, now: now) } else { succeed(id) }
  }

  /// Records that a validation failed, in the background or in a call.
  mutating func fail(_ id: UInt64, _ cause: CacheFailure, now: MonotonicInstant) {
    if failures.count >= Self.capacity { failures = failures.filter { isRecent($0.value, now) } }
    guard failures.count < Self.capacity else { return }
    failures[id] = Failure(cause: cause, instant: now)
  }

  /// Records that the server has responded.
  mutating func succeed(_ id: UInt64) {
    if !failures.isEmpty { failures[id] = nil }
  }

  /// Returns the failure of a validation within the last second.
  func recentFailure(of id: UInt64, now: MonotonicInstant) -> CacheFailure? {
    guard let failure = failures[id], isRecent(failure, now) else { return nil }
    return failure.cause
  }

  private func isRecent(_ failure: Failure, _ now: MonotonicInstant) -> Bool {
    failure.instant.duration(to: now) < Self.pause
  }
}
