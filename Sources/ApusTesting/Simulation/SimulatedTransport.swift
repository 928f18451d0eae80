package import ApusCore
import Synchronization

/// A transport that sends messages over a simulated link to the servers of a simulation.
///
/// Created by ``SimulatedWorld/transport(over:)``. A transport represents one device, whose exchanges share the link's
/// bandwidth. The attempt's deadline and `ExchangeTimeouts.firstByte` are respected, up to the head of the response;
/// the other timeouts do not apply because connecting takes no time. A response is returned after its last byte.
package final class SimulatedTransport: Transport {
  enum Fate: Sendable, Hashable {
    case arrives
    case requestLost
    case answerLost
  }

  private struct State {
    var link: SimulatedLink
    var traffic = LinkTraffic()
    var generator: SeededGenerator
  }

  let network: SimulatedNetwork
  private let state: Mutex<State>

  init(_ network: SimulatedNetwork, link: SimulatedLink, generator: SeededGenerator) {
    self.network = network
    state = Mutex(State(link: link, generator: generator))
  }

  /// `true`: the transport records when a request is sent.
  package var reportsConnections: Bool { true }

  var link: SimulatedLink { state.withLock { $0.link } }

  /// Performs an exchange with the server of the request's host.
  ///
  /// - Throws: `TransportError`: `offline` during an outage of the link, `hostNotFound` if no server has the host,
  ///   `connectionFailed` if the server is down, `connectionLost` if the request or the response is lost, `timeout`
  ///   if the head of the response is late; `CancellationError`.
  package func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try Task.checkCancellation()
    guard !isDown else { throw TransportError(.offline, requestState: .notSent) }
    guard let host = request.origin?.host, let server = network.server(host) else {
      throw TransportError(.hostNotFound, requestState: .notSent, detail: "no server of the simulation has this host")
    }
    context.record(.connected(reused: true))
    // Checked again: an observer of the connection event may have cancelled the call.
    try Task.checkCancellation()
    let length = request.content.length
    let content = try await request.content.collected { context.reportSent(total: $0, expected: length) }
    var complete = request
    if !request.content.isEmpty { complete.content = .bytes(content) }
    return try await SimulatedExchange(complete, context: context, server: server, transport: self).perform()
  }

  /// Whether the link is down now.
  var isDown: Bool {
    let time = network.clock.now.sinceStart
    return state.withLock { $0.link.isDown(at: time) }
  }

  /// Determines the fate of the next exchange at random.
  func drawFate() -> Fate {
    state.withLock { state in
      // Always uses two random numbers, so that changing the probability does not change later numbers.
      let (draw, side) = (state.generator.nextFraction(), state.generator.nextFraction())
      guard draw < state.link.loss else { return .arrives }
      return side < 0.5 ? .requestLost : .answerLost
    }
  }

  func drawLatency() -> Duration {
    state.withLock { $0.link.latency.sample(using: &$0.generator) }
  }

  /// Returns the instant at which the last byte of a request written now is sent.
  func passUp(_ bytes: Int) -> MonotonicInstant {
    let now = network.clock.now
    return state.withLock { $0.traffic.passUp(bytes, bandwidth: $0.link.bandwidth, at: now) }
  }

  /// Returns the instants at which the head and the last byte of a response written now are sent.
  func passDown(_ bytes: Int) -> (head: MonotonicInstant, all: MonotonicInstant) {
    let now = network.clock.now
    return state.withLock { $0.traffic.passDown(bytes, bandwidth: $0.link.bandwidth, at: now) }
  }
}

/// The network between a client and the servers of a simulation.
public struct SimulatedLink: Sendable, Hashable {
  /// The latency of a message, in each direction. Default: 20 milliseconds.
  package var latency = DurationDistribution.constant(.milliseconds(20))
  /// The probability, 0 to 1, that an exchange is lost. The loss affects the request or the response, with equal
  /// probability. Default: 0.
  package var loss = 0.0
  /// Whether a lost exchange stalls until its call times out. Default: `false`: the connection is lost, as always after
  /// the head of the response.
  package var stallsOnLoss = false
  /// The bandwidth in bytes per second in each direction, shared by all exchanges of a client; messages are sent one
  /// after the other. Default: `nil`, unlimited.
  package var bandwidth: Int?
  /// The periods in which the link is down, in time since the start of the simulation. Calls that start in such a
  /// period fail immediately with `offline`, and messages that arrive in it are lost. Default: never.
  package var outages: [Range<Duration>] = []

  /// Creates a link.
  ///
  /// - Parameters:
  ///   - latency: the latency of a message, in each direction. Default: 20 milliseconds.
  ///   - loss: the probability, 0 to 1, that an exchange is lost: the connection breaks. The loss affects the request
  ///     or the response, with equal probability. Default: 0.
  ///   - bandwidth: the bandwidth in bytes per second in each direction, shared by all exchanges of a client; messages
  ///     are sent one after the other. Default: `nil`, unlimited.
  ///   - outages: the periods in which the link is down, in time since the start of the simulation. Calls that start in
  ///     such a period fail immediately with `offline`, and messages that arrive in it are lost. Default: never.
  public init(
    latency: DurationDistribution = .constant(.milliseconds(20)), loss: Double = 0, bandwidth: Int? = nil,
    outages: [Range<Duration>] = []
  ) {
    self.latency = latency
    self.loss = loss
    self.bandwidth = bandwidth
    self.outages = outages
  }

  /// A link without latency, loss or limits.
  package static let ideal = SimulatedLink(latency: .constant(.zero))

  /// The size in bytes of every message in addition to its content, for ``bandwidth``.
  static let headSize = 400

  func isDown(at time: Duration) -> Bool {
    outages.contains { $0.contains(time) }
  }
}

/// The instants at which a link is free again, one for each direction. A pure state machine.
struct LinkTraffic: Sendable {
  private var freeUp = MonotonicInstant(sinceStart: .zero)
  private var freeDown = MonotonicInstant(sinceStart: .zero)

  /// Returns the instant at which the last byte of a request written now is sent.
  mutating func passUp(_ bytes: Int, bandwidth: Int?, at now: MonotonicInstant) -> MonotonicInstant {
    Self.pass(bytes, bandwidth, now, &freeUp)
  }

  /// Returns the instants at which the head and the last byte of a response written now are sent.
  mutating func passDown(
    _ bytes: Int, bandwidth: Int?, at now: MonotonicInstant
  ) -> (head: MonotonicInstant, all: MonotonicInstant) {
    var freeAfterHead = freeDown
    let head = Self.pass(0, bandwidth, now, &freeAfterHead)
    return (head, Self.pass(bytes, bandwidth, now, &freeDown))
  }

  private static func pass(
    _ bytes: Int, _ bandwidth: Int?, _ now: MonotonicInstant, _ free: inout MonotonicInstant
  ) -> MonotonicInstant {
    guard let bandwidth, bandwidth > 0 else { return now }
    let nanoseconds = Int64(Double(bytes + SimulatedLink.headSize) * 1e9 / Double(bandwidth))
    free = max(free, now).advanced(by: .nanoseconds(nanoseconds))
    return free
  }
}
