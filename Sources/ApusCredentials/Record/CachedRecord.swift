import ApusCore
import ApusMiddleware

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A cached record, with the instant at which it was read.
struct CachedRecord: Sendable {
  let record: CredentialRecord
  private let remaining: Duration?
  private let arrival: MonotonicInstant

  init(_ record: CredentialRecord, _ clocks: Clocks) {
    self.record = record
    remaining = record.remaining(at: clocks.wall)
    arrival = clocks.clock.now
  }

  /// Returns the credentials with their present remaining lifetime.
  ///
  /// The lifetime is measured by both clocks, and the shorter result is used, so setting the wall clock back does not
  /// extend it.
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
