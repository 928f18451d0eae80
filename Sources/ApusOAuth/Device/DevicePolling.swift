import ApusCore

/// When to ask for the tokens of a device authorization (RFC 8628 §3.5). A pure state machine.
struct DevicePolling: Hashable {
  /// The interval if the server names none.
  static let defaultInterval = Duration.seconds(5)
  /// The interval grows by this when the server asks for it.
  static let step = Duration.seconds(5)
  /// Failed connections double the interval up to this.
  static let longest = Duration.seconds(60)

  /// The end of a request that brought no tokens.
  enum Answer: Hashable {
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
  ///   - interval: the server's interval; `nil`: none.
  ///   - lifetime: the time for which the device code is valid.
  ///   - now: the current instant.
  init(interval: Duration?, lifetime: Duration, now: MonotonicInstant) {
    self.interval = max(.seconds(1), interval ?? Self.defaultInterval)
    deadline = now.advanced(by: lifetime)
    next = now.advanced(by: self.interval)
  }

  /// Whether the device code is still valid at the next request.
  var mayAsk: Bool { next < deadline }

  /// The time until which waiting makes sense.
  var wake: MonotonicInstant { min(next, deadline) }

  /// Notes an answer.
  mutating func note(_ answer: Answer, now: MonotonicInstant) {
    switch answer {
    case .pending: break
    case .slowDown: interval += Self.step
    case .unreachable: interval = max(interval, min(interval * 2, Self.longest))
    }
    next = now.advanced(by: interval)
  }
}
