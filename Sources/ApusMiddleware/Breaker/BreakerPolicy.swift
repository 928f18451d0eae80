/// A policy that decides when the circuits of a ``CircuitBreaker`` open, and for how long.
///
/// The circuit of an endpoint opens at a ratio of failed exchanges, or after consecutive gateway errors. The circuit of
/// an origin opens after consecutive exchanges that did not reach it, or consecutive gateway errors or timeouts from at
/// least three endpoints.
public struct BreakerPolicy: Sendable, Hashable {
  /// The ratio of failed exchanges within ``window`` at which an endpoint's circuit opens, above 0 up to 1. Default:
  /// 0.5.
  public var failureRatio: Double
  /// The minimum number of exchanges within ``window`` for ``failureRatio`` to apply, at least 1. Default: 10.
  public var minimumExchanges: Int
  /// The number of consecutive failures at which a circuit opens, at least 1. For an endpoint gateway errors (502, 503,
  /// 504) count; for an origin exchanges that did not reach it, or gateway errors and timeouts from at least three
  /// endpoints. Default: 5.
  public var consecutiveFailures: Int
  /// The length of the sliding window for ``failureRatio``, in ten steps; at least 10 ms. Default: 30 seconds.
  public var window: Duration
  /// The time for which a circuit stays open when it first opens. It doubles each time the circuit opens again. The
  /// circuit of an origin that responds with gateway errors, or too late, stays open for at most twice this time.
  /// Default: 5 seconds.
  public var openDuration = Duration.seconds(5)
  /// The maximum time for which a circuit stays open, whatever delay a server requests. Default: 60 seconds.
  public var maximumOpenDuration = Duration.seconds(60)
  /// The minimum time after which a timeout counts as a failure of the server: a timeout of the attempt or of the whole
  /// call, or the transport's timeout for the head or a stall. Default: 1 second.
  ///
  /// The transport's own connect timeout always counts.
  public var minimumTimeout = Duration.seconds(1)

  /// Creates a policy. The defaults are those of ``app``.
  public init(
    failureRatio: Double = 0.5, minimumExchanges: Int = 10, consecutiveFailures: Int = 5,
    window: Duration = .seconds(30)
  ) {
    self.failureRatio = failureRatio
    self.minimumExchanges = minimumExchanges
    self.consecutiveFailures = consecutiveFailures
    self.window = window
  }

  /// The policy for apps, which make few calls: a circuit opens when half of at least 10 exchanges with an endpoint
  /// fail within 30 seconds.
  public static let app = BreakerPolicy()

  /// The policy for servers, which make many calls: a circuit opens when a tenth of at least 100 exchanges with an
  /// endpoint fail within 30 seconds.
  public static let server = BreakerPolicy(failureRatio: 0.1, minimumExchanges: 100)
}
