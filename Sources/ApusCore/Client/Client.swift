/// Talks to one server at a time: the app's way to send endpoints and get values.
///
/// A cheap value; copies share calls, environment and connections. Use as many clients as there are
/// servers; nothing is shared between clients.
public struct Client: Sendable {
  let state: ClientState
  /// The environment of this value's calls; `nil`: the one that all copies share.
  private var own: PreparedEnvironment?

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

  /// The client of a call, in the call's environment.
  init(of call: Call) {
    state = call.client
    own = call.prepared
  }

  /// The environment of calls that begin now, prepared.
  var prepared: PreparedEnvironment { own ?? state.currentEnvironment }

  /// The running calls.
  public var calls: CallRegistry { state.registry }

  /// The environment of calls that begin now.
  public var environment: Environment { prepared.environment }

  /// Switches to another environment: calls that begin from now on use it, running ones keep theirs.
  public func use(_ environment: Environment) {
    state.use(environment)
  }
}
