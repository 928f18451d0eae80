/// What lies between a client and the servers of a simulation: a weak radio network, an office's line.
public struct SimulatedLink: Sendable, Hashable {
  /// How long a message is on its way, in each direction. Default: 20 milliseconds.
  public var latency = DurationDistribution.constant(.milliseconds(20))
  /// The probability, 0 to 1, that an exchange is lost: its request or its answer, each as likely. Default: 0.
  public var loss = 0.0
  /// Whether nothing is heard of an exchange that is lost, until its call gives up; else the connection breaks, as it
  /// does in any case where the head of the answer was there.
  /// Default: the connection breaks.
  public var stallsOnLoss = false
  /// Bytes a second in each direction, which all exchanges of a client share, one message after the other; `nil`: no
  /// limit. Default: no limit.
  public var bandwidth: Int?
  /// When there is no network, in time since the simulation began: a call that begins then fails at once with
  /// `offline`, a message that arrives then is lost. Default: never.
  public var outages: [Range<Duration>] = []

  /// Makes a link with the defaults for all that is left out.
  public init(
    latency: DurationDistribution = .constant(.milliseconds(20)), loss: Double = 0, bandwidth: Int? = nil,
    outages: [Range<Duration>] = []
  ) {
    self.latency = latency
    self.loss = loss
    self.bandwidth = bandwidth
    self.outages = outages
  }

  /// No latency, no loss, no limits.
  public static let ideal = SimulatedLink(latency: .constant(.zero))

  /// What a message has in bytes beside its content, for ``bandwidth``.
  static let headSize = 400

  func isDown(at time: Duration) -> Bool {
    outages.contains { $0.contains(time) }
  }
}
