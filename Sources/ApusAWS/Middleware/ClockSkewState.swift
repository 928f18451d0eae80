import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The differences between the clocks of servers and the device's, learned from rejected signatures. A pure state machine.
///
/// A signature is valid for some minutes around the server's time. A device's clock may be wrong by more, and is then
/// corrected for each origin by the `Date` of the rejection (RFC 9110 §6.6.1).
///
/// Only over https, and by a day at most: anybody who can change a `Date` would get signatures that are valid at a time
/// of their choice.
struct ClockSkewState: Sendable {
  /// A rejected signature.
  struct Rejection: Sendable {
    let origin: Origin
    let code: AWSErrorCode
    /// The time of the signature.
    let signedAt: Date
    /// The device's time of the response.
    let now: Date
    /// The server's time in the response.
    let serverDate: Date?
  }

  /// The maximum number of origins. Beyond it one is forgotten, and learned anew if needed.
  static let limit = 64
  /// The smallest correction, in seconds, after a rejection for the time itself.
  private static let certain = 30.0
  /// The smallest correction, in seconds, if the reason of the rejection is not known to be the time. Servers accept
  /// five minutes at least.
  private static let likely = 240.0
  /// The largest correction, in seconds.
  private static let longest = 86_400.0

  /// The seconds by which a server's clock is ahead, by origin.
  private var offsets: [Origin: TimeInterval] = [:]

  /// The time to sign with for an origin.
  func date(for origin: Origin, at now: Date) -> Date {
    guard !offsets.isEmpty, let offset = offsets[origin] else { return now }
    return now.addingTimeInterval(offset)
  }

  /// Learns from a rejection.
  ///
  /// - Returns: the correction in seconds if a signature with the corrected time may be accepted; else `nil`.
  mutating func correct(after rejection: Rejection) -> TimeInterval? {
    guard let serverDate = rejection.serverDate, rejection.origin.scheme == "https" else { return nil }
    let threshold: TimeInterval
    switch rejection.code {
    case .skewedClock: threshold = Self.certain
    case .wrongSignature, .unknown: threshold = Self.likely
    case .expiredCredentials, .other: return nil
    }
    // Compared with the time of the signature: another call may have corrected the clock in the meantime.
    guard abs(serverDate.timeIntervalSince(rejection.signedAt)) > threshold else { return nil }
    let offset = serverDate.timeIntervalSince(rejection.now)
    guard abs(offset) <= Self.longest else { return nil }
    if offsets[rejection.origin] == nil, offsets.count >= Self.limit { offsets.remove(at: offsets.startIndex) }
    offsets[rejection.origin] = offset
    return offset
  }
}
