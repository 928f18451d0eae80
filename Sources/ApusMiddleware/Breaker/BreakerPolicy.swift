/// A policy that decides when the circuits of a ``CircuitBreaker`` open, and for how long.
///
/// The circuit of an endpoint opens at a ratio of failed exchanges, or after consecutive gateway errors. That of an
/// origin opens after consecutive exchanges that did not reach it, or consecutive gateway errors or timeouts from at
/// least three endpoints.
public struct BreakerPolicy: Sendable, Hashable {
  /// The ratio of failed exchanges within ``window`` at which an endpoint's circuit opens, above 0 up to 1. Default:
  /// 0.5.
  public var ratio: Double
  /// The minimum number of exchanges within ``window`` for ``ratio`` to apply, at least 1. Default: 10.
  public var minimum: Int
  /// The number of consecutive failures at which a circuit opens, at least 1. For an endpoint gateway errors (502, 503,
  /// 504) count; for an origin exchanges that did not reach it, or gateway errors and timeouts from at least three
  /// endpoints. Default: 5.
  public var consecutive: Int
  /// The length of the sliding window for ``ratio``, in ten steps; at least 10 ms. Default: 30 seconds.
  public var window: Duration
  /// How long a circuit stays open the first time. Each further time is twice as long. The circuit of an origin that
  /// responds with gateway errors, or too late, stays open for at most twice this time. Default: 5 seconds.
  public var firstOpening = Duration.seconds(5)
  /// The maximum time that a circuit stays open, whatever a server asks for. Default: 60 seconds.
  public var longestOpening = Duration.seconds(60)
  /// The minimum time that a server must have had for a timeout to count as a failure: a timeout of the attempt or of
  /// the whole call, or the transport's for the head or a stall. Default: 1 second.
  ///
  /// The transport's own connect timeout always counts.
  public var patience = Duration.seconds(1)
  /// Whether status 429 is a failure of the endpoint. Default: `false`: a server that enforces a limit works.
  public var countsThrottling = false

  /// Makes a policy. The defaults are those of ``interactive``.
  public init(
    ratio: Double = 0.5, minimum: Int = 10, consecutive: Int = 5, window: Duration = .seconds(30)
  ) {
    self.ratio = ratio
    self.minimum = minimum
    self.consecutive = consecutive
    self.window = window
  }

  /// The policy for apps, which make few calls: half of at least 10 exchanges with an endpoint within 30 seconds.
  public static let interactive = BreakerPolicy()

  /// The policy for servers, which make many calls: a tenth of at least 100 exchanges with an endpoint within 30
  /// seconds.
  public static let server = BreakerPolicy(ratio: 0.1, minimum: 100)
}
