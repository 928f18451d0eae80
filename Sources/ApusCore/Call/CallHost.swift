import Synchronization

/// The settings of a client, besides its pipeline and transport.
public struct ClientSettings: Sendable {
  /// The coders and styles of all calls. The options of an endpoint or a call take precedence.
  public var coding = CodingOptions()
  /// The maximum number of content (body) bytes that a call reads into memory. Default: 64 MiB.
  public var contentLimit = 64 << 20
  /// Whether equal calls in flight are coalesced by default, see ``Endpoint/coalesced(_:)``. Default: `false`.
  public var coalesces = false
  /// The sentences of errors. Default: English.
  public var errorTexts = ErrorTexts.english
  /// The observers of all events of all calls, called in this order. Default: none.
  public var observers: [any CallObserver] = []
  /// The clock, the executor, and the sources of random and serial numbers. Default: the system's.
  public var runtime = Runtime()

  /// Creates the default settings.
  public init() {}
}

/// The state shared by all calls of a client: settings, pipeline, registry, timer and tasks.
final class CallHost: Sendable {
  /// Identifies the client without keeping it alive.
  let owner = CallKey.Owner()
  let settings: ClientSettings
  let registry = CallRegistry()
  let timer: DeadlineTimer
  let spawner: TaskSpawner
  /// Whether the transport reports when an exchange gets its connection.
  let reportsConnections: Bool
  /// The clock, if it advances by itself. Only test clocks advance by themselves.
  let selfAdvancingClock: (any SelfAdvancingClock)?
  let pipeline: CompiledPipeline
  private let environment: Mutex<PreparedEnvironment>
  private let serials = Atomic<UInt64>(0)

  init(_ environment: Environment, pipeline: Pipeline, transport: any Transport, settings: ClientSettings) {
    self.environment = Mutex(PreparedEnvironment(environment))
    var settings = settings
    selfAdvancingClock = settings.runtime.clock.selfAdvancing
    if settings.runtime.executor == nil, let executor = selfAdvancingClock?.observingExecutor {
      settings.runtime.executor = executor
      settings.runtime.executorDecodingLimit = .max
    }
    self.settings = settings
    self.pipeline = CompiledPipeline(pipeline, transport: transport, clock: selfAdvancingClock)
    reportsConnections = self.pipeline.reportsConnections
    spawner = TaskSpawner(executor: settings.runtime.executor, continuations: self.pipeline.continuationExecutor)
    timer = DeadlineTimer(clock: settings.runtime.clock, spawner: spawner)
  }

  var runtime: Runtime { settings.runtime }

  /// The environment of calls that begin now.
  var currentEnvironment: PreparedEnvironment { environment.withLock { $0 } }

  func use(_ environment: Environment) {
    let prepared = PreparedEnvironment(environment)
    self.environment.withLock { $0 = prepared }
  }

  func nextSerial() -> UInt64 {
    runtime.nextSerial?() ?? serials.add(1, ordering: .relaxed).newValue
  }
}

/// The source of a call: its client, environment and inherited deadline.
struct CallSource {
  let host: CallHost
  let environment: PreparedEnvironment
  /// An instant of the client's clock, or `nil` without an inherited deadline.
  let deadline: MonotonicInstant?
}

/// A hold on a test clock that advances by itself, for the steps of a call outside the client's tasks: before the call's
/// task starts, and after that task has ended. During these steps the clock must stand still, and the clock itself knows
/// only the tasks.
final class CallerClockHold: Sendable {
  private let clock: any SelfAdvancingClock
  private let count = Mutex(0)

  /// Creates the hold. From now on the clock stands still, until the call's task starts.
  init(_ clock: any SelfAdvancingClock) {
    self.clock = clock
    begin()
  }

  func begin() {
    count.withLock { $0 += 1 }
    clock.hold()
  }

  func end() {
    count.withLock { $0 -= 1 }
    clock.release()
  }

  /// Performs work that waits for events outside the client, during which the clock stands still.
  func standStill<Output>(during work: () async throws -> Output) async throws -> Output {
    try await clock.standStill(during: work)
  }

  /// Ends the hold for all steps that have begun.
  func endAll() {
    let rest = count.withLock { count in
      defer { count = 0 }
      return count
    }
    for _ in 0..<max(0, rest) { clock.release() }
  }

  deinit {
    endAll()
  }
}
