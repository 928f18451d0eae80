import Foundation
import Synchronization

/// A server's time of day, which passes only when it is told to.
final class ServerTime: Sendable {
  private let time = Mutex(Date(timeIntervalSince1970: 1_000_000))

  var now: Date { time.withLock { $0 } }

  func advance(by duration: Duration) {
    time.withLock { $0 += duration / .seconds(1) }
  }
}
