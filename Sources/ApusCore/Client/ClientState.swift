import Synchronization

/// What all copies of a client share: built once, read by every call.
final class ClientState: Sendable {
  /// Stands for this client where nothing is to keep it alive.
  let owner = CallKey.Owner()
  let settings: ClientSettings
  let registry = CallRegistry()
  let timer: DeadlineTimer
  let spawner: TaskSpawner
  let reportsConnections: Bool
  /// What calls pass that say nothing else. Kept for its slots, which a path has none of.
  let pipeline: Pipeline
  private let path: Path
  private let joiningPath: Path
  /// The same for environments that bind calls to a principal.
  private let bindingPath: Path
  private let bindingJoiningPath: Path
  private let environment: Mutex<PreparedEnvironment>
  private let serials = Atomic<UInt64>(0)

  init(environment: Environment, pipeline: Pipeline, transport: any Transport, settings: ClientSettings) {
    self.settings = settings
    self.environment = Mutex(PreparedEnvironment(environment))
    spawner = TaskSpawner(executor: settings.runtime.executor)
    timer = DeadlineTimer(clock: settings.runtime.clock, spawner: spawner)
    reportsConnections = transport.reportsConnections
    path = Path(middlewares: pipeline.middlewares, transport: transport)
    var joining = pipeline
    joining.insert(JoinCalls(spawner: spawner, limits: settings.coalescing), .after(.coalescing))
    joiningPath = Path(middlewares: joining.middlewares, transport: transport)
    bindingPath = Path(middlewares: pipeline.binding.middlewares, transport: transport)
    bindingJoiningPath = Path(middlewares: joining.binding.middlewares, transport: transport)
    self.pipeline = settings.coalesces ? joining : pipeline
  }

  var runtime: Runtime { settings.runtime }
  var observers: [any CallObserver] { settings.observers }
  var transport: any Transport { path.transport }

  /// The environment for calls that begin now.
  var currentEnvironment: PreparedEnvironment { environment.withLock { $0 } }

  func use(_ environment: Environment) {
    let prepared = PreparedEnvironment(environment)
    self.environment.withLock { $0 = prepared }
  }

  func nextSerial() -> UInt64 {
    runtime.nextSerial?() ?? serials.add(1, ordering: .relaxed).newValue
  }

  func path(joining: Bool, binding: Bool) -> Path {
    switch (joining, binding) {
    case (false, false): path
    case (true, false): joiningPath
    case (false, true): bindingPath
    case (true, true): bindingJoiningPath
    }
  }
}

extension Pipeline {
  /// The same for calls that are bound to a principal: inside the total deadline, and outside of everything else that
  /// waits.
  var binding: Pipeline {
    var pipeline = self
    pipeline.insert(PrincipalBinding(), .after(.totalDeadline))
    return pipeline
  }
}
