import Foundation
import Synchronization

/// A server's clock, which is advanced by the test.
final class ServerTime: Sendable {
  private let time = Mutex(Date(timeIntervalSince1970: 1_000_000))

  var now: Date { time.withLock { $0 } }

  func advance(by duration: Duration) {
    time.withLock { $0 += duration / .seconds(1) }
  }
}
