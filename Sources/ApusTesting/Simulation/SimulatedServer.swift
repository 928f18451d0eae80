public import ApusCore
import HTTPTypes
import Synchronization

/// A server of a simulation, with a capacity, a queue and outages.
///
/// Created by ``SimulatedWorld/server(_:_:)``. Its behavior can be changed at any time:
///
/// <!-- sample: none it needs a world -->
/// ```swift
/// server.change(at: .seconds(60)) { $0.capacity /= 2 }    // half of it fails
/// server.change(at: .seconds(120)) { $0.capacity *= 2 }   // and recovers a minute later
/// ```
public final class SimulatedServer: Sendable {
  typealias Outcome = Result<SimulatedResponse, TransportError>

  private struct Job: Sendable {
    let request: RequestMessage
    let reply: @Sendable (Outcome) -> Void
  }

  private struct State {
    var behavior: Behavior
    var queue: ServerQueue
    var jobs: [UInt64: Job] = [:]
    var generator: SeededGenerator
  }

  /// The host name, in lower case.
  public let host: String
  private let clock: SimulatedClock
  private let recorder: SimulationRecorder
  private let state: Mutex<State>

  init(_ host: String, _ behavior: Behavior, generator: SeededGenerator, recorder: SimulationRecorder) {
    self.host = host
    self.recorder = recorder
    clock = recorder.clock
    let queue = ServerQueue(capacity: behavior.capacity, places: behavior.queueLimit)
    state = Mutex(State(behavior: behavior, queue: queue, generator: generator))
  }

  /// The base URL: `https` and the host.
  public var baseURL: BaseURL { BaseURL(stringLiteral: "https://\(host)") }

  /// The current behavior.
  package var behavior: Behavior { state.withLock { $0.behavior } }

  /// Changes the behavior from now on. Requests in progress are finished, and queued requests stay queued.
  package func change(_ change: (inout Behavior) -> Void) {
    var behavior = behavior
    change(&behavior)
    let changed = behavior
    let starting = state.withLock { state in
      state.behavior = changed
      return state.queue.resize(capacity: changed.capacity, places: changed.queueLimit)
    }
    for ticket in starting { start(ticket) }
  }

  /// Changes the behavior when the simulation reaches `time`.
  public func change(at time: Duration, _ change: @escaping @Sendable (inout Behavior) -> Void) {
    clock.plan(at: MonotonicInstant(sinceStart: time)) { self.change(change) }
  }

  /// Handles the arrival of a request.
  func arrive(_ request: RequestMessage, _ ticket: UInt64, reply: @escaping @Sendable (Outcome) -> Void) {
    let time = clock.now.sinceStart
    guard !behavior.isDown(at: time) else {
      recorder.record(.down(host: host))
      return reply(.failure(TransportError(.connectionFailed, requestState: .notSent, detail: "the server is down")))
    }
    let (arrival, waiting) = state.withLock { state in
      let arrival = state.queue.arrive(ticket)
      if arrival != .refused { state.jobs[ticket] = Job(request: request, reply: reply) }
      return (arrival, state.queue.waiting.count)
    }
    recorder.record(.arrived(host: host, waiting: waiting))
    switch arrival {
    case .starts: start(ticket)
    case .waits: break
    case .refused: send(.overloaded(retryAfter: behavior.retryAfter), by: reply)
    }
  }

  /// Handles the disconnect of a client.
  func leave(_ ticket: UInt64) {
    state.withLock { state in
      guard state.behavior.dropsAbandonedRequests, state.queue.leave(ticket) else { return }
      state.jobs[ticket] = nil
    }
  }

  private func start(_ ticket: UInt64) {
    guard let job = state.withLock({ $0.jobs[ticket] }) else { return }
    // Called outside of the lock, because the closure is the test's code and may use this server.
    let response = behavior.respond(job.request)
    let time = state.withLock { state in
      (response.serviceTime ?? state.behavior.serviceTime).sample(using: &state.generator)
    }
    clock.plan(after: time) { self.finish(ticket, response) }
  }

  private func finish(_ ticket: UInt64, _ response: SimulatedResponse) {
    let (job, starting) = state.withLock { state in
      (state.jobs.removeValue(forKey: ticket), state.queue.finish())
    }
    for ticket in starting { start(ticket) }
    guard let job else { return }
    guard behavior.isDown(at: clock.now.sinceStart) else { return send(response, by: job.reply) }
    recorder.record(.down(host: host))
    job.reply(.failure(TransportError(.connectionLost, requestState: .maybeSent, detail: "the server went down")))
  }

  private func send(_ response: SimulatedResponse, by reply: (Outcome) -> Void) {
    recorder.record(.responded(host: host, status: response.head.status.code))
    reply(.success(response))
  }
}

extension SimulatedServer {
  /// The behavior of a simulated server.
  public struct Behavior: Sendable {
    /// The number of requests the server works on at a time. Default: 100.
    public var capacity = 100
    /// The maximum number of queued requests; further requests are rejected with 503 immediately. Default: 100.
    public var queueLimit = 100
    /// The time the server works on a request. Default: 10 milliseconds.
    public var serviceTime = DurationDistribution.constant(.milliseconds(10))
    /// The value of `Retry-After` in a 503. Default: `nil`, which omits the field.
    public var retryAfter: Duration?
    /// Whether a queued request is discarded when its client has disconnected. Default: `false`, as with most servers:
    /// the server still works on the request.
    public var dropsAbandonedRequests = false
    /// The periods in which the server is down, in time since the start of the simulation. In such a period connections
    /// are refused, and responses that are due are lost. Default: never.
    public var outages: [Range<Duration>] = []
    /// A closure that returns the response to a request, called when work on the request starts. Default: 200 with
    /// `{}`.
    public var respond: @Sendable (RequestMessage) -> SimulatedResponse = { _ in .json("{}") }

    /// Creates the default behavior.
    init() {}

    func isDown(at time: Duration) -> Bool {
      outages.contains { $0.contains(time) }
    }
  }
}

/// The requests in progress and the queued requests of a server. A pure state machine.
struct ServerQueue: Sendable {
  enum Arrival: Sendable, Hashable {
    /// The server starts to work on the request.
    case starts
    /// The request is queued.
    case waits
    /// The queue is full.
    case refused
  }

  private(set) var capacity: Int
  private(set) var places: Int
  private(set) var busy = 0
  /// The queued requests, oldest first.
  private(set) var waiting: [UInt64] = []

  init(capacity: Int, places: Int) {
    self.capacity = capacity
    self.places = places
  }

  /// Adds a request.
  mutating func arrive(_ ticket: UInt64) -> Arrival {
    if busy < capacity {
      busy += 1
      return .starts
    }
    guard waiting.count < places else { return .refused }
    waiting.append(ticket)
    return .waits
  }

  /// Ends the work on a request. Returns the queued requests to start.
  mutating func finish() -> [UInt64] {
    busy -= 1
    return startWaiting()
  }

  /// Removes a queued request. Returns whether the request was queued.
  mutating func leave(_ ticket: UInt64) -> Bool {
    guard let index = waiting.firstIndex(of: ticket) else { return false }
    waiting.remove(at: index)
    return true
  }

  /// Changes the limits. Returns the queued requests to start.
  mutating func resize(capacity: Int, places: Int) -> [UInt64] {
    self.capacity = capacity
    self.places = places
    return startWaiting()
  }

  private mutating func startWaiting() -> [UInt64] {
    let count = min(waiting.count, max(0, capacity - busy))
    defer { waiting.removeFirst(count) }
    busy += count
    return Array(waiting.prefix(count))
  }
}
