/// A client that sends endpoints to one server and returns their values.
///
/// A client is a small value; copies share calls, environment and connections. Use one client for each server.
/// Separate clients share nothing.
public struct Client: Sendable {
  let host: CallHost
  /// The values that a client for nested calls inherits from the outer call. `nil` for a client that the app created.
  private var nesting: Nesting?

  /// The values inherited from an outer call. A class, so that a client stays small.
  private final class Nesting: Sendable {
    let environment: PreparedEnvironment
    /// An instant of the client's clock; `nil`: no limit.
    let deadline: MonotonicInstant?
    /// The deadlines of the outer call that do not apply to its nested calls, because the nested calls serve other
    /// calls too.
    let ignoredScopes: [DeadlineScope]

    init(_ environment: PreparedEnvironment, until deadline: MonotonicInstant?, ignoring scopes: [DeadlineScope] = []) {
      (self.environment, self.deadline, ignoredScopes) = (environment, deadline, scopes)
    }
  }

  /// Creates a client from its parts. The module `Apus` adds initializers with defaults.
  ///
  /// - Parameters:
  ///   - environment: the server.
  ///   - pipeline: the middlewares in order. Default: ``Pipeline/init()``.
  ///   - transport: the transport that sends the messages.
  ///   - settings: coders, limits, error sentences, observers, clock.
  public init(
    environment: Environment, pipeline: Pipeline = Pipeline(), transport: any Transport,
    settings: ClientSettings = ClientSettings()
  ) {
    host = CallHost(environment, pipeline: pipeline, transport: transport, settings: settings)
  }

  private init(of call: Call, _ nesting: Nesting) {
    host = call.host
    self.nesting = nesting
  }

  /// Creates a client for calls nested in `call`, with the same environment. The calls end no later than `deadline`.
  init(of call: Call, until deadline: MonotonicInstant?) {
    self.init(of: call, Nesting(call.prepared, until: deadline))
  }

  /// Creates a client for work that `call` starts and other calls share. The client has the same environment, but its
  /// calls do not inherit the deadlines of `call` and of the current task.
  init(sharedOf call: Call) {
    self.init(of: call, Nesting(call.prepared, until: nil, ignoring: DeadlineScope.here))
  }

  /// The source of calls that begin now.
  var callSource: CallSource {
    CallSource(host: host, environment: prepared, deadline: inheritedDeadline)
  }

  private var prepared: PreparedEnvironment { nesting?.environment ?? host.currentEnvironment }

  private var inheritedDeadline: MonotonicInstant? {
    let clock = host.runtime.clock
    guard let nesting else { return Deadline.current?.instant(on: clock) }
    let here = DeadlineScope.inherited(except: nesting.ignoredScopes)?.instant(on: clock)
    guard let own = nesting.deadline else { return here }
    return here.map { min($0, own) } ?? own
  }

  /// The running calls.
  public var calls: CallRegistry { host.registry }

  /// The environment of calls that begin now.
  public var environment: Environment { prepared.environment }

  /// Switches to another environment. Calls that begin from now on use it; running calls keep their environment.
  public func use(_ environment: Environment) {
    host.use(environment)
  }

  /// The middlewares in order, the transport and the observers, for descriptions of the client.
  package var parts: (pipeline: Pipeline, transport: any Transport, observers: [any CallObserver]) {
    (host.pipeline.order, host.pipeline.transport, host.settings.observers)
  }

  /// Returns a client with a further middleware. It shares middlewares and transport with this client, and has its own
  /// list of calls.
  ///
  /// - Parameters:
  ///   - middleware: the middleware.
  ///   - position: its position in the pipeline.
  package func inserting(_ middleware: any Middleware, _ position: Pipeline.Position) -> Client {
    var pipeline = host.pipeline.order
    pipeline.insert(middleware, position)
    return Client(
      environment: environment, pipeline: pipeline, transport: host.pipeline.transport, settings: host.settings)
  }

  /// Performs work with one time limit for all its calls, measured with this client's clock.
  ///
  /// The limit applies to the calls of all clients, see ``withDeadline(_:on:_:)``.
  ///
  /// - Parameters:
  ///   - limit: the time limit of all calls together. If it is zero or negative, no call is sent.
  ///   - work: makes the calls; runs on the caller's actor.
  /// - Returns: the result of `work`.
  /// - Throws: the error of `work`.
  public func withDeadline<Output, Failure: Error>(
    _ limit: Duration, _ work: () async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    let clock = host.runtime.clock
    let deadline = Deadline(clock.now.advanced(by: limit), on: clock)
    return try await DeadlineScope.perform(until: deadline, work).get()
  }
}
