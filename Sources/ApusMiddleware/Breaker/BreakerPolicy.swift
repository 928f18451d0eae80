/// A policy that decides when the circuits of a ``CircuitBreaker`` open, and for how long.
///
/// The circuit of an endpoint opens when too large a part of its recent exchanges failed, or after gateway errors in a
/// row. That of an origin opens after so many exchanges in a row that did not reach it, or gateway errors or timeouts in a
/// row from at least three endpoints.
public struct BreakerPolicy: Sendable, Hashable {
  /// The part of an endpoint's exchanges within ``window`` at which its circuit opens when they failed, above 0 up to 1.
  /// Default: 0.5.
  public var ratio: Double
  /// The number of exchanges of an endpoint within ``window`` from which on ``ratio`` counts, at least 1. Default: 10.
  public var minimum: Int
  /// The number of failures in a row by which a circuit opens, at least 1: of an endpoint gateway errors (502, 503, 504);
  /// of an origin exchanges that did not reach it, or gateway errors and timeouts from at least three endpoints.
  /// Default: 5.
  public var consecutive: Int
  /// How far back exchanges count for ``ratio``, in ten steps; at least 10 ms. Default: 30 seconds.
  public var window: Duration
  /// How long a circuit is open the first time; twice as long each further time. The circuit of an origin that responds
  /// with gateway errors, or too late, is open for at most twice this time. Default: 5 seconds.
  public var firstOpening = Duration.seconds(5)
  /// The longest time that a circuit is open, whatever a server asks for. Default: 60 seconds.
  public var longestOpening = Duration.seconds(60)
  /// How long a server must have had for a response so that a timeout counts as a failure: that of the attempt, of the
  /// whole call, or the transport's for the head or a stall. Default: 1 second.
  ///
  /// The transport's own limit on connecting always counts.
  public var patience = Duration.seconds(1)
  /// Whether the status 429 is a failure of the endpoint. Default: `false`, since it is a limit that the server keeps
  /// well.
  public var countsThrottling = false

  /// Makes a policy. Defaults: those of an app.
  public init(
    ratio: Double = 0.5, minimum: Int = 10, consecutive: Int = 5, window: Duration = .seconds(30)
  ) {
    self.ratio = ratio
    self.minimum = minimum
    self.consecutive = consecutive
    self.window = window
  }

  /// For apps, which make few calls: half of at least 10 to one endpoint within 30 seconds.
  public static let interactive = BreakerPolicy()

  /// For servers, which make many: a tenth of at least 100 to one endpoint within 30 seconds.
  public static let server = BreakerPolicy(ratio: 0.1, minimum: 100)
}
