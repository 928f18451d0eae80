/// The decisions about the reconnections of an event stream, and about repeated requests of a long poll. A pure state
/// machine.
struct ReconnectState: Hashable {
  /// The reason why a connection ended.
  enum Ending: Hashable {
    /// The response was complete.
    case complete
    case failed(Failure)
  }

  /// The failure of a connection.
  struct Failure: Hashable {
    /// Whether another connection may succeed.
    var isTemporary: Bool
    /// Whether the server may have received the request.
    var wasSent = true
    /// The delay that the server requests.
    var retryAfter: Duration?
  }

  /// The action to perform.
  enum Action: Hashable {
    case connect(after: Duration)
    case finish
    case fail
  }

  /// The reconnection time unless the server sets another time.
  static let defaultTime = Duration.seconds(3)
  /// The maximum delay that a server can set.
  static let longestTime = Duration.seconds(60 * 60)
  /// The maximum to which the bound of the delay grows, unless the server requests a longer delay.
  static let longestBackoff = Duration.seconds(30)
  /// The minimum bound of the delay after a failure, for servers that set a shorter reconnection time.
  static let shortestBackoff = Duration.milliseconds(100)
  /// The duration of a connection after which earlier failures do not count.
  static let healthyTime = Duration.seconds(60)

  private let isAllowed: Bool
  /// Whether the method and the endpoint permit resending the request, regardless of the position in the stream.
  private let isRepeatable: Bool
  private var position: StreamPosition
  private var hasConnected = false
  private var connection: MonotonicInstant?
  /// The number of connections in a row that failed or were short.
  private var failures = 0

  /// Creates a state before the first connection.
  init(isAllowed: Bool = true, isRepeatable: Bool, lastEventID: String = "") {
    (self.isAllowed, self.isRepeatable) = (isAllowed, isRepeatable)
    position = StreamPosition(lastEventID: lastEventID)
  }

  /// The last event ID for the next request. Empty if there is none.
  var lastEventID: String { position.lastEventID }

  /// Records that a response was accepted.
  mutating func connected(at now: MonotonicInstant) {
    (hasConnected, connection) = (true, now)
  }

  /// Records a complete response to a long poll, after which earlier failures do not count.
  mutating func responded() {
    (hasConnected, failures) = (true, 0)
  }

  /// Records the position in the stream at the end of a response. A reconnection time that an earlier response has set
  /// remains.
  mutating func reached(_ position: StreamPosition) {
    self.position.lastEventID = position.lastEventID
    if let time = position.reconnectionTime {
      self.position.reconnectionTime = min(max(.zero, time), Self.longestTime)
    }
  }

  /// Returns the action after a connection has ended.
  ///
  /// - Parameter jitter: a random number from 0 to less than 1.
  mutating func ended(_ ending: Ending, at now: MonotonicInstant, jitter: Double) -> Action {
    let isHealthy = connection.map { $0.duration(to: now) >= Self.healthyTime } ?? false
    connection = nil
    let isResumable = isAllowed && (isRepeatable || !position.lastEventID.isEmpty)
    switch ending {
    case .complete:
      guard isResumable else { return .finish }
      return .connect(after: delay(isHealthy: isHealthy, jitter: jitter))
    case .failed(let failure):
      guard isAllowed, hasConnected, failure.isTemporary, isResumable || !failure.wasSent else { return .fail }
      let requested = min(failure.retryAfter ?? .zero, Self.longestTime)
      return .connect(after: max(requested + requested / 10 * jitter, delay(isHealthy: isHealthy, jitter: jitter)))
    }
  }

  /// Returns the delay before the next connection, and adds the ended connection to ``failures``.
  private mutating func delay(isHealthy: Bool, jitter: Double) -> Duration {
    if isHealthy { failures = 0 }
    defer { failures = min(failures + 1, 16) }
    let time = position.reconnectionTime ?? Self.defaultTime
    let longest = max(Self.longestBackoff, time)
    var bound = failures == 0 ? time : max(time, Self.shortestBackoff)
    for _ in 0..<failures where bound < longest { bound = min(longest, bound * 2) }
    guard position.reconnectionTime != nil else { return bound * jitter }
    // A time that the server sets is a minimum; the jitter spreads the clients of a server that was restarted.
    return max(time + time / 10 * jitter, bound * jitter)
  }
}

extension ReconnectState.Failure {
  /// Creates the failure of a call.
  ///
  /// - Parameter isFinal: whether a deadline has passed that also applies to the next call.
  init(_ error: CallError, isFinal: Bool) {
    self.init(
      isTemporary: !isFinal && error.isTemporary, wasSent: error.requestState != .notSent, retryAfter: error.retryAfter)
  }
}

extension CallError {
  /// The statuses after which a later request may succeed.
  private static let temporaryStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]

  /// Whether another call may succeed without a change of the app or its settings.
  fileprivate var isTemporary: Bool {
    switch code {
    case .connectionLost: !isIncompleteRequest
    case .offline, .hostNotFound, .connectionFailed, .timeout: true
    case .refused: isThrottled
    case .rejected: status.map { Self.temporaryStatuses.contains($0) } ?? false
    case .invalidRequest, .encoding, .tls, .cancelled, .malformedResponse, .contentTooLarge, .decoding, .handler: false
    }
  }
}
