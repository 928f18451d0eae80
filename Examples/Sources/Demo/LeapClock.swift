import Foundation
import Synchronization

/// A time of day that can leap ahead, so that a token expires without anybody waiting for it.
final class LeapClock: Sendable {
  private let ahead = Mutex(Duration.zero)

  var now: Date { Date() + ahead.withLock { $0 } / .seconds(1) }

  func leap(by duration: Duration) {
    ahead.withLock { $0 += duration }
  }
}
