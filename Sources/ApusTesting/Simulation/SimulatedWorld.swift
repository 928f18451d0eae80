public import ApusCore
import Synchronization

/// What a simulation happens in: servers, links to them, clients, and work that runs on the simulation's clock.
///
/// Everything in it runs on one thread, one job at a time, and time moves only when everything waits. So that this
/// stays true, work goes through ``spawn(_:)`` and ``every(_:for:_:)``, or through task groups inside of it; what runs
/// elsewhere, as an unstructured `Task { }` or code of the main actor does, is not part of the simulation.
///
/// What counts by the system's clock unless it is told another one counts real time here as well: in place of the
/// function `withDeadline(_:_:)` use `api.withDeadline(_:_:)`, or `withDeadline(_:on:_:)` with ``clock``.
public final class SimulatedWorld: Sendable {
  /// The seed of the run.
  public let seed: UInt64
  /// The simulation's clock.
  public let clock = SimulatedClock()
  /// Where everything runs. Moved by the simulation alone.
  public let executor = ManualExecutor()
  let recorder: SimulationRecorder
  let tasks: SimulationTasks
  private let network: SimulatedNetwork
  private let counts = Mutex((streams: UInt64(0), clients: 0))

  init(seed: UInt64) {
    self.seed = seed
    recorder = SimulationRecorder(clock: clock)
    network = SimulatedNetwork(recorder: recorder)
    tasks = SimulationTasks(executor: executor)
  }

  /// Time since the simulation began.
  public var now: Duration { clock.now.sinceStart }

  /// Adds a server; one that was added before with the same host is no longer reached.
  ///
  /// - Parameters:
  ///   - host: its name, without a port.
  ///   - configure: changes how it behaves from the defaults.
  @discardableResult
  public func server(
    _ host: String, _ configure: (inout SimulatedServer.Behaviour) -> Void = { _ in }
  ) -> SimulatedServer {
    var behaviour = SimulatedServer.Behaviour()
    configure(&behaviour)
    let server = SimulatedServer(host.lowercased(), behaviour, generator: generator(), recorder: recorder)
    network.add(server)
    return server
  }

  /// Makes the transport of one device, which reaches every server of this world.
  public func transport(over link: SimulatedLink = SimulatedLink()) -> SimulatedTransport {
    SimulatedTransport(network, link: link, generator: generator())
  }

  /// Makes the settings of one client: time, tasks and randomness are the simulation's, and its calls are reported.
  ///
  /// For a client with a configuration: `$0.settings = world.settings($0.settings)`. Values are made on the
  /// simulation's thread, however much content there is.
  ///
  /// - Parameter settings: what else the client has. Its runtime is replaced, and its observers are told first.
  ///   Default: the defaults.
  public func settings(_ settings: ClientSettings = ClientSettings()) -> ClientSettings {
    let client = counts.withLock { counts in
      counts.clients += 1
      return counts.clients
    }
    var settings = settings
    settings.runtime = Runtime(
      clock: clock, executor: executor, random: SeededGenerator.source(seed: streamSeed()))
    settings.runtime.decodedOnExecutor = .max
    settings.observers.append(SimulationObserver(client: client, recorder: recorder))
    return settings
  }

  /// Makes a client on a device of its own.
  ///
  /// - Parameters:
  ///   - server: where its calls go.
  ///   - pipeline: its middlewares. Default: none.
  ///   - link: what lies between. Default: see ``SimulatedLink``.
  public func client(
    of server: SimulatedServer, pipeline: Pipeline = Pipeline(), over link: SimulatedLink = SimulatedLink()
  ) -> Client {
    Client(
      environment: Environment(baseURL: server.baseURL), pipeline: pipeline, transport: transport(over: link),
      settings: settings())
  }

  /// Makes a generator with a sequence of its own, which the seed decides.
  public func generator() -> SeededGenerator {
    SeededGenerator(seed: streamSeed())
  }

  /// Ends what is left once the run is over.
  func close() {
    tasks.cancelAll()
    clock.close()
    network.close()
    // Bounded: work that does not heed its end is left where it stands.
    executor.run(jobs: 100_000)
    if executor.pendingCount == 0 { executor.mode = .forward }
  }

  /// The golden ratio spreads streams over all seeds, so that those of neighbouring seeds do not meet.
  private func streamSeed() -> UInt64 {
    let stream = counts.withLock { counts in
      counts.streams += 1
      return counts.streams
    }
    return (seed &* 0xD134_2543_DE82_EF95) ^ (stream &* 0x9E37_79B9_7F4A_7C15)
  }
}
