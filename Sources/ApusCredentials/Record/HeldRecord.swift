import ApusCore
import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A record in memory, with the instant at which it was read.
struct HeldRecord: Sendable {
  let record: CredentialRecord
  private let remaining: Duration?
  private let arrival: MonotonicInstant

  init(_ record: CredentialRecord, _ clocks: Clocks) {
    self.record = record
    remaining = record.remaining(at: clocks.wall)
    arrival = clocks.clock.now
  }

  /// The record at this moment.
  ///
  /// The remaining lifetime is measured by both clocks, and the shorter one counts: setting the wall clock back does
  /// not extend it.
  func stored(_ clocks: Clocks) -> StoredCredential {
    var left: Duration?
    if let remaining, let byWall = record.remaining(at: clocks.wall) {
      left = min(byWall, remaining - arrival.duration(to: clocks.clock.now))
    }
    var stored = StoredCredential(
      record.credential, generation: record.generation, principal: record.principal, remaining: left)
    stored.account = record.account
    return stored
  }
}

/// A monotonic clock and a wall clock. The wall clock survives a restart, but users can set it.
struct Clocks: Sendable {
  var clock: any MonotonicClock
  var date: @Sendable () -> Date

  /// Seconds since 1970 by the wall clock.
  var wall: Double { date().timeIntervalSince1970 }
}
