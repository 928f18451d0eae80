/// When a ``CircuitBreaker`` opens, and for how long.
///
/// There are two triggers: too large a part of the exchanges of late failed, or several in a row did not get through
/// to the server at all. An open breaker refuses calls at once; after a while it lets one through to see.
public struct BreakerPolicy: Sendable, Hashable {
  /// The part of all exchanges within ``window`` that may not fail, above 0 up to 1. Default: 0.5.
  public var ratio: Double
  /// How many exchanges there must have been within ``window`` for ``ratio`` to mean anything, at least 1. Default: 10.
  public var minimum: Int
  /// How many failures in a row open it where each was a connection that could not be made, or a gateway's status (502,
  /// 503, 504); at least 1. Default: 5.
  public var consecutive: Int
  /// How far back exchanges count, in ten steps; at least 10 ms. Default: 30 seconds.
  public var window: Duration
  /// How long it is open the first time; twice as long each further time. Default: 5 seconds.
  public var firstOpening = Duration.seconds(5)
  /// The longest that it is open, whatever a server asks for. Default: 60 seconds.
  public var longestOpening = Duration.seconds(60)
  /// How long a server must have had for an answer so that a passed deadline counts against it. Default: 1 second.
  ///
  /// A call that is cancelled says nothing of the server, but a deadline that passed meanwhile does, unless most of the
  /// time went by elsewhere.
  public var patience = Duration.seconds(1)
  /// Whether the status 429 is a failure. Default: no, it is a limit that the server keeps, and it keeps it well.
  public var countsThrottling = false

  /// Makes a policy; what is left out is as for an app.
  public init(
    ratio: Double = 0.5, minimum: Int = 10, consecutive: Int = 5, window: Duration = .seconds(30)
  ) {
    self.ratio = ratio
    self.minimum = minimum
    self.consecutive = consecutive
    self.window = window
  }

  /// For apps, whose calls are few: half of at least 10 within 30 seconds.
  public static let interactive = BreakerPolicy()

  /// For servers, whose calls are many: a tenth of at least 100 within 30 seconds.
  public static let server = BreakerPolicy(ratio: 0.1, minimum: 100)
}
