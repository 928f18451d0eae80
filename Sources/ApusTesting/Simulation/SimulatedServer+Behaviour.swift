public import ApusCore

extension SimulatedServer {
  /// How a server behaves.
  public struct Behaviour: Sendable {
    /// How many requests it works on at once. Default: 100.
    public var capacity = 100
    /// How many more may wait; one that finds no place is answered 503 at once. Default: 100.
    public var places = 100
    /// How long it works on a request. Default: 10 milliseconds.
    public var serviceTime = DurationDistribution.constant(.milliseconds(10))
    /// What it puts into `Retry-After` when it has no place; `nil`: no such field. Default: `nil`.
    public var retryAfter: Duration?
    /// Whether a request that waits is forgotten when its client has gone. Default: it is not, and is worked on in
    /// vain, as most servers do.
    public var noticesLeaving = false
    /// When it is down, in time since the simulation began: connections are refused, and work that ends then breaks
    /// off. Default: never.
    public var outages: [Range<Duration>] = []
    /// Makes the answer to a request once the work on it begins. Default: 200 and `{}`.
    public var answer: @Sendable (RequestMessage) -> SimulatedAnswer = { _ in .json("{}") }

    /// The defaults.
    public init() {}

    func isDown(at time: Duration) -> Bool {
      outages.contains { $0.contains(time) }
    }
  }
}
