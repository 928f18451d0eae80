import ApusCore

/// The polling schedule of a device authorization (RFC 8628 §3.5). A pure state machine.
struct DevicePolling: Hashable {
  /// The interval if the server states none.
  static let defaultInterval = Duration.seconds(5)
  /// The increase of the interval when the server requests slower polling.
  static let step = Duration.seconds(5)
  /// The maximum interval after failed connections. Each failed connection doubles the interval.
  static let maximumInterval = Duration.seconds(60)

  /// The outcome of a request that returned no tokens.
  enum Outcome: Hashable {
    case pending
    case slowDown
    /// No response, or a response of an overloaded server.
    case unreachable
  }

  private var interval: Duration
  private let deadline: MonotonicInstant
  /// The instant of the next request.
  private(set) var next: MonotonicInstant

  /// - Parameters:
  ///   - interval: the server's interval; `nil` if the server states no interval.
  ///   - lifetime: the time for which the device code is valid.
  ///   - now: the current instant.
  init(interval: Duration?, lifetime: Duration, now: MonotonicInstant) {
    self.interval = max(.seconds(1), interval ?? Self.defaultInterval)
    deadline = now.advanced(by: lifetime)
    next = now.advanced(by: self.interval)
  }

  /// Whether the device code is still valid at the next request.
  var canPoll: Bool { next < deadline }

  /// The instant of the next request, or the end of the device code's lifetime if that is earlier.
  var wake: MonotonicInstant { min(next, deadline) }

  /// Records the outcome of a request.
  mutating func record(_ outcome: Outcome, now: MonotonicInstant) {
    switch outcome {
    case .pending: break
    case .slowDown: interval += Self.step
    case .unreachable: interval = max(interval, min(interval * 2, Self.maximumInterval))
    }
    next = now.advanced(by: interval)
  }
}
