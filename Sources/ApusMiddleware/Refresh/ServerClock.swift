import ApusCore
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// What time it is for the server, by the last of its answers that told it.
///
/// It goes on with the client's monotonic clock, which nobody sets: how wrong the device's calendar is does not matter
/// once the server has been heard.
final class ServerClock: Sendable {
  private struct Reading {
    let date: Date
    let instant: MonotonicInstant
  }

  private let reading = Mutex<Reading?>(nil)
  let clock: any MonotonicClock

  init(_ clock: any MonotonicClock) {
    self.clock = clock
  }

  /// An answer told the time. It was made somewhen between `sent` and now; the field has whole seconds, cut off.
  func told(_ date: Date, askedAt sent: MonotonicInstant) {
    let now = clock.now
    let half = sent.duration(to: now) / 2
    let reading = Reading(date: date.addingTimeInterval(0.5), instant: sent.advanced(by: half))
    self.reading.withLock { $0 = reading }
  }

  /// The server's time; before it told one, the device's.
  var now: Date {
    guard let reading = reading.withLock({ $0 }) else { return Date() }
    return reading.date.addingTimeInterval(reading.instant.duration(to: clock.now).seconds)
  }
}

extension Duration {
  /// The same as a number of seconds.
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
