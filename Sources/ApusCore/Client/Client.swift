/// Talks to one server at a time: the app's way to send endpoints and get values.
///
/// A cheap value; copies share calls, environment and connections. Use as many clients as there are
/// servers; nothing is shared between clients.
public struct Client: Sendable {
  let state: ClientState
  /// The call that this value's calls are made for; `nil`: none, and the environment is the one that all copies share.
  private var origin: CallOrigin?

  /// Makes a client of its parts. `Apus` has an initialiser that chooses them for you.
  ///
  /// - Parameters:
  ///   - environment: the server.
  ///   - pipeline: the middlewares in their order. Default: none.
  ///   - transport: sends messages.
  ///   - settings: coders, limits, texts, observers, surroundings.
  public init(
    environment: Environment, pipeline: Pipeline = Pipeline(), transport: any Transport,
    settings: ClientSettings = ClientSettings()
  ) {
    state = ClientState(environment: environment, pipeline: pipeline, transport: transport, settings: settings)
  }

  /// The client of a call, in the call's environment; its calls must be over at `deadline`.
  init(of call: Call, until deadline: MonotonicInstant?) {
    state = call.client
    origin = CallOrigin(call.prepared, until: deadline)
  }

  /// The same for calls that serve others, too: no deadline that is in force here binds them, only what they are made
  /// in from now on.
  init(sharedOf call: Call) {
    state = call.client
    origin = CallOrigin(call.prepared, until: nil, unbinding: DeadlineScope.here)
  }

  /// The environment of calls that begin now, prepared.
  var prepared: PreparedEnvironment { origin?.prepared ?? state.currentEnvironment }

  /// When calls that are made here must be over, by what they are made in and for.
  var inheritedDeadline: MonotonicInstant? {
    guard let origin else { return Deadline.current?.instant(on: state.runtime.clock) }
    let here = DeadlineScope.inherited(except: origin.unbinding)?.instant(on: state.runtime.clock)
    guard let own = origin.deadline else { return here }
    return here.map { min($0, own) } ?? own
  }

  /// The running calls.
  public var calls: CallRegistry { state.registry }

  /// The environment of calls that begin now.
  public var environment: Environment { prepared.environment }

  /// Switches to another environment: calls that begin from now on use it, running ones keep theirs.
  public func use(_ environment: Environment) {
    state.use(environment)
  }
}
