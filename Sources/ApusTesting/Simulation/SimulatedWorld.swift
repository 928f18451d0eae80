public import ApusCore
import Synchronization

/// The world of a simulation: servers, links, clients, and work on the simulation's clock.
///
/// All jobs run on one thread, one at a time, and time advances only when all jobs wait. Start work with ``spawn(_:)``,
/// ``every(_:for:_:)`` or task groups inside it; an unstructured `Task { }` and main-actor code are not part of the
/// simulation.
///
/// Functions that default to the system's clock measure real time here too: instead of `withDeadline(_:_:)` use
/// `api.withDeadline(_:_:)`, or `withDeadline(_:on:_:)` with ``clock``.
public final class SimulatedWorld: Sendable {
  /// The seed of the run.
  package let seed: UInt64
  let simulatedClock = SimulatedClock()
  /// The executor on which all jobs of the simulation run.
  package let executor = ManualExecutor()
  let recorder: SimulationRecorder
  let tasks: SimulationTasks
  private let network: SimulatedNetwork
  private let counts = Mutex((streams: UInt64(0), clients: 0))

  init(seed: UInt64) {
    self.seed = seed
    recorder = SimulationRecorder(clock: simulatedClock)
    network = SimulatedNetwork(recorder: recorder)
    tasks = SimulationTasks(executor: executor)
  }

  /// The simulation's clock.
  public var clock: any MonotonicClock { simulatedClock }

  /// The time since the start of the simulation.
  public var now: Duration { clock.now.sinceStart }

  /// Adds a server, which replaces an earlier server with the same host.
  ///
  /// - Parameters:
  ///   - host: the host name, without a port.
  ///   - configure: changes the default behavior.
  @discardableResult
  public func server(
    _ host: String, _ configure: (inout SimulatedServer.Behavior) -> Void = { _ in }
  ) -> SimulatedServer {
    var behavior = SimulatedServer.Behavior()
    configure(&behavior)
    let server = SimulatedServer(host.lowercased(), behavior, generator: generator(), recorder: recorder)
    network.add(server)
    return server
  }

  /// Returns the transport of a new device, which reaches every server of this world.
  public func transport(over link: SimulatedLink = SimulatedLink()) -> any Transport {
    SimulatedTransport(network, link: link, generator: generator())
  }

  /// Returns the settings of a new client, with the simulation's clock, executor and randomness, and with an observer
  /// that reports its calls.
  ///
  /// For a client with a configuration: `$0.settings = world.settings($0.settings)`. Content of any size is decoded on
  /// the simulation's thread.
  ///
  /// - Parameter settings: the client's other settings. The runtime is replaced; the observer is added last.
  public func settings(_ settings: ClientSettings = ClientSettings()) -> ClientSettings {
    let client = counts.withLock { counts in
      counts.clients += 1
      return counts.clients
    }
    var settings = settings
    settings.runtime = Runtime(
      clock: clock, executor: executor, random: SeededGenerator.source(seed: streamSeed()))
    settings.runtime.executorDecodingLimit = .max
    settings.observers.append(SimulationObserver(client: client, recorder: recorder))
    return settings
  }

  /// Returns a client on a new device.
  ///
  /// - Parameters:
  ///   - server: the server of the client's base URL.
  ///   - pipeline: the middlewares. Default: none.
  ///   - link: the link of the device. Default: see ``SimulatedLink``.
  package func client(
    of server: SimulatedServer, pipeline: Pipeline = Pipeline(), over link: SimulatedLink = SimulatedLink()
  ) -> Client {
    Client(
      environment: Environment(baseURL: server.baseURL), pipeline: pipeline, transport: transport(over: link),
      settings: settings())
  }

  /// Returns a generator with a new sequence, derived from the seed.
  public func generator() -> SeededGenerator {
    SeededGenerator(seed: streamSeed())
  }

  /// Ends all remaining work once the run is over.
  func close() {
    tasks.cancelAll()
    simulatedClock.close()
    network.close()
    // The number of jobs is bounded: work that ignores cancellation is abandoned.
    executor.run(jobs: 100_000)
    if executor.pendingJobCount == 0 { executor.mode = .forward }
  }

  // Multiples of the golden ratio keep the random sequences of consecutive seeds distinct.
  private func streamSeed() -> UInt64 {
    let stream = counts.withLock { counts in
      counts.streams += 1
      return counts.streams
    }
    return (seed &* 0xD134_2543_DE82_EF95) ^ (stream &* 0x9E37_79B9_7F4A_7C15)
  }
}

extension SimulatedWorld {
  /// Starts concurrent work. The simulation lasts until all work has ended and fails if any work throws.
  public func spawn(_ work: @escaping @Sendable () async throws -> Void) {
    tasks.spawn(work)
  }

  /// Starts work repeatedly, whether or not earlier work has ended: an open-loop load.
  ///
  /// - Parameters:
  ///   - pause: the time before each start; at least a nanosecond.
  ///   - duration: the time during which work is started.
  ///   - work: receives the number of the start, from 0. The simulation fails with any error that the work throws.
  public func every(
    _ pause: DurationDistribution, for duration: Duration, _ work: @escaping @Sendable (Int) async throws -> Void
  ) {
    let drawing = generator()
    spawn {
      var drawing = drawing
      let end = self.now + duration
      var number = 0
      while true {
        let next = self.now + max(.nanoseconds(1), pause.sample(using: &drawing))
        guard next < end else { return }
        try await self.sleep(until: next)
        let started = number
        self.spawn { try await work(started) }
        number += 1
      }
    }
  }

  /// Schedules an action for a time since the start. The simulation may end earlier.
  package func at(_ time: Duration, _ action: @escaping @Sendable () -> Void) {
    simulatedClock.plan(at: MonotonicInstant(sinceStart: time), action)
  }

  /// Waits for a time.
  ///
  /// - Throws: `CancellationError` if the task is cancelled, as all tasks are when the simulation fails.
  public func sleep(for duration: Duration) async throws {
    try await sleep(until: now + duration)
  }

  /// Waits until a time since the start of the simulation.
  ///
  /// - Throws: `CancellationError` if the task is cancelled, as all tasks are when the simulation fails.
  public func sleep(until time: Duration) async throws {
    try await clock.sleep(until: MonotonicInstant(sinceStart: time))
  }

  /// Adds a line to the report.
  public func note(_ text: String) {
    recorder.record(.note(text))
  }
}

/// The tasks a simulation waits for.
final class SimulationTasks: Sendable {
  private struct State {
    var running: [UInt64: Task<Void, Never>?] = [:]
    var lastID: UInt64 = 0
    var failure: (any Error)?
  }

  private let state = Mutex(State())
  private let executor: ManualExecutor

  init(executor: ManualExecutor) {
    self.executor = executor
  }

  /// Whether all tasks have ended.
  var isEmpty: Bool { state.withLock { $0.running.isEmpty } }

  /// The error of the first task that failed.
  var failure: (any Error)? { state.withLock { $0.failure } }

  func spawn(_ work: @escaping @Sendable () async throws -> Void) {
    let id = state.withLock { state in
      state.lastID += 1
      state.running[state.lastID] = .some(nil)
      return state.lastID
    }
    let task = Task<Void, Never>(executorPreference: executor) {
      do {
        try await work()
        self.end(id, nil)
      } catch {
        self.end(id, error)
      }
    }
    state.withLock { state in
      if state.running[id] != nil { state.running[id] = .some(task) }
    }
  }

  func cancelAll() {
    let running = state.withLock { $0.running.sorted { $0.key < $1.key }.map { $0.value } }
    for task in running { task?.cancel() }
  }

  private func end(_ id: UInt64, _ error: (any Error)?) {
    state.withLock { state in
      state.running[id] = nil
      if state.failure == nil { state.failure = error }
    }
  }
}
