import Synchronization

/// What a client does with every call, besides its pipeline and transport.
public struct ClientSettings: Sendable {
  /// Coders and styles of all calls; those of an endpoint or a call take precedence.
  public var coding = CodingOptions()
  /// The most bytes of content (body) that a call keeps in memory. Default: 64 MiB.
  public var contentLimit = 64 << 20
  /// Whether calls coalesce with identical requests in flight unless they say otherwise, see ``Endpoint/coalesced(_:)``.
  /// Default: `false`.
  public var coalesces = false
  /// The sentences of errors. Default: English.
  public var errorTexts = ErrorTexts.english
  /// Observers of every event of every call, called in this order. Default: none.
  public var observers: [any CallObserver] = []
  /// Time, tasks, randomness and ids. Default: the system's.
  public var runtime = Runtime()

  /// Makes the default settings.
  public init() {}
}

/// What all calls of a client share: its settings, registry, timer and tasks.
final class CallHost: Sendable {
  /// Identifies the client without keeping it alive.
  let owner = CallKey.Owner()
  let settings: ClientSettings
  let registry = CallRegistry()
  let timer: DeadlineTimer
  let spawner: TaskSpawner
  /// Whether the transport reports when an exchange gets its connection.
  let reportsConnections: Bool
  /// The way to the transport, for clients that middlewares get. The pipeline knows its type.
  let route: any CallRoute
  private let environment: Mutex<PreparedEnvironment>
  private let serials = Atomic<UInt64>(0)

  init(_ environment: Environment, route: any CallRoute, settings: ClientSettings) {
    self.environment = Mutex(PreparedEnvironment(environment))
    self.route = route
    self.settings = settings
    reportsConnections = route.reportsConnections
    spawner = TaskSpawner(executor: settings.runtime.executor)
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

/// The way of a call to the transport, as far as the call itself knows it.
protocol CallRoute: AnyObject, Sendable {
  /// Whether the transport reports connections (``Transport/reportsConnections``).
  var reportsConnections: Bool { get }
}

/// What a call is made in: its client, the environment and the deadline that it inherits.
struct CallOrigin {
  let host: CallHost
  let environment: PreparedEnvironment
  /// An instant of the client's clock; `nil`: no inherited deadline.
  let deadline: MonotonicInstant?
}
