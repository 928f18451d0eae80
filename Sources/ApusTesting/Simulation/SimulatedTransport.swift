public import ApusCore
import Synchronization

/// Sends messages over a simulated link to the servers of a simulation; see ``SimulatedWorld/transport(over:)``.
///
/// One stands for one device: all that it sends shares the bandwidth of its link. It keeps the time of an attempt and
/// `ExchangeTimeouts.firstByte`, and neither of the other limits, since connections take no time. An answer is handed
/// over whole, after its last byte; these two limits heed its head alone.
public final class SimulatedTransport: Transport {
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

  /// It tells when a request leaves.
  public var reportsConnections: Bool { true }

  /// The link, which may be changed at any time: messages that leave from then on know the new one.
  public var link: SimulatedLink {
    get { state.withLock { $0.link } }
    set { state.withLock { $0.link = newValue } }
  }

  /// Performs an exchange with the server of the request's host.
  ///
  /// - Throws: ``TransportError``: `offline` in an outage of the link, `hostNotFound` where no server has the host,
  ///   `connectionFailed` where it is down, `broken` where request or answer is lost, `timedOut` where the head of the
  ///   answer was not there in time; `CancellationError`.
  public func send(_ request: RequestMessage, context: ExchangeContext) async throws -> ResponseMessage {
    try Task.checkCancellation()
    guard !isDown else { throw TransportError(.offline, requestState: .notSent) }
    guard let host = request.origin?.host, let server = network.server(host) else {
      throw TransportError(.hostNotFound, requestState: .notSent, detail: "no server of the simulation has this host")
    }
    context.record(.connected(reused: true))
    // Asked once more: whoever was told of the connection may have ended the call.
    try Task.checkCancellation()
    let length = request.content.length
    let content = try await request.content.collected { context.sent(total: $0, expected: length) }
    var complete = request
    if !request.content.isEmpty { complete.content = .bytes(content) }
    return try await SimulatedExchange(complete, context: context, server: server, transport: self).perform()
  }

  /// Whether there is no network now.
  var isDown: Bool {
    let time = network.clock.now.sinceStart
    return state.withLock { $0.link.isDown(at: time) }
  }

  /// What becomes of the next exchange.
  func drawFate() -> Fate {
    state.withLock { state in
      // Both drawn always, so that another probability does not change what follows.
      let (draw, side) = (state.generator.nextFraction(), state.generator.nextFraction())
      guard draw < state.link.loss else { return .arrives }
      return side < 0.5 ? .requestLost : .answerLost
    }
  }

  func drawLatency() -> Duration {
    state.withLock { $0.link.latency.sample(using: &$0.generator) }
  }

  /// When the last byte of a request has left that is handed over now.
  func passUp(_ bytes: Int) -> MonotonicInstant {
    let now = network.clock.now
    return state.withLock { $0.traffic.passUp(bytes, bandwidth: $0.link.bandwidth, at: now) }
  }

  /// The same for an answer, and when its head has.
  func passDown(_ bytes: Int) -> (head: MonotonicInstant, all: MonotonicInstant) {
    let now = network.clock.now
    return state.withLock { $0.traffic.passDown(bytes, bandwidth: $0.link.bandwidth, at: now) }
  }
}
