import ApusCore

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The differences between the clocks of servers and the device, learned from rejected signatures. A pure state
/// machine.
///
/// A signature is valid for some minutes around the server's time. The clock of a device may deviate more. The time of
/// its signatures is then corrected for each origin by the `Date` of the rejection (RFC 9110 §6.6.1).
///
/// A correction is made over https only, and is at most a day. Without these limits, an attacker who can change a
/// `Date` could get signatures that are valid at any chosen time.
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

  /// The maximum number of origins. Beyond this number an arbitrary origin is removed. Its difference is learned again
  /// if needed.
  static let limit = 64
  /// The minimum correction, in seconds, if the server rejected the time of the signature.
  private static let minimumIfSkewed = 30.0
  /// The minimum correction, in seconds, if the rejection may have another reason. Servers accept a deviation of at
  /// least five minutes.
  private static let minimumIfUnclear = 240.0
  /// The maximum correction, in seconds.
  private static let maximumCorrection = 86_400.0

  /// The seconds by which a server's clock is ahead, by origin.
  private var offsets: [Origin: TimeInterval] = [:]

  /// Returns the time of a signature for an origin.
  func date(for origin: Origin, at now: Date) -> Date {
    guard !offsets.isEmpty, let offset = offsets[origin] else { return now }
    return now.addingTimeInterval(offset)
  }

  /// Learns from a rejection.
  ///
  /// - Returns: the correction in seconds if a signature with the corrected time may be accepted; otherwise `nil`.
  mutating func correct(after rejection: Rejection) -> TimeInterval? {
    guard let serverDate = rejection.serverDate, rejection.origin.scheme == "https" else { return nil }
    let threshold: TimeInterval
    switch rejection.code {
    case .skewedClock: threshold = Self.minimumIfSkewed
    case .wrongSignature, .unknown: threshold = Self.minimumIfUnclear
    case .expiredCredentials, .other: return nil
    }
    // Compares with the time of the signature, because another call may have corrected the clock in the meantime.
    guard abs(serverDate.timeIntervalSince(rejection.signedAt)) > threshold else { return nil }
    let offset = serverDate.timeIntervalSince(rejection.now)
    guard abs(offset) <= Self.maximumCorrection else { return nil }
    if offsets[rejection.origin] == nil, offsets.count >= Self.limit { offsets.remove(at: offsets.startIndex) }
    offsets[rejection.origin] = offset
    return offset
  }
}
