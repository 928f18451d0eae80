import ApusCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The server's clock, estimated from the latest response that had a `Date`.
///
/// It advances with the client's monotonic clock, so the device's calendar does not matter once a server has responded.
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

  /// Sets the clock by a response's `Date`. The server took that time between `sent` and now, and rounded it down to
  /// whole seconds.
  func update(_ date: Date, sentAt sent: MonotonicInstant) {
    let now = clock.now
    let half = sent.duration(to: now) / 2
    let reading = Reading(date: date.addingTimeInterval(0.5), instant: sent.advanced(by: half))
    self.reading.withLock { $0 = reading }
  }

  /// The server's time; the device's time before the first response with a `Date`.
  var now: Date {
    guard let reading = reading.withLock({ $0 }) else { return Date() }
    return reading.date.addingTimeInterval(reading.instant.duration(to: clock.now).seconds)
  }
}

extension Duration {
  /// The duration as a number of seconds.
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
