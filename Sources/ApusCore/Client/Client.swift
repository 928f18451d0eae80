/// A client that sends endpoints to one server and returns their values.
///
/// A client is a small value; copies share calls, environment and connections. Use one client for each server.
/// Separate clients share nothing.
public struct Client: Sendable {
  let host: CallHost
  let pipeline: CompiledPipeline
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
  ///   - settings: coders, limits, texts, observers, clock.
  public init(
    environment: Environment, pipeline: Pipeline = Pipeline(), transport: any Transport,
    settings: ClientSettings = ClientSettings()
  ) {
    self.pipeline = CompiledPipeline(pipeline, transport: transport)
    host = CallHost(environment, pipeline: self.pipeline, settings: settings)
  }

  private init(of call: Call, _ nesting: Nesting) {
    host = call.host
    // The pipeline of a host is the one with which its client was created.
    pipeline = unsafeDowncast(call.host.pipeline, to: CompiledPipeline.self)
    self.nesting = nesting
  }

  /// Creates a client for calls nested in `call`, with the same environment. The calls end no later than `deadline`.
  init(of call: Call, until deadline: MonotonicInstant?) {
    self.init(of: call, Nesting(call.prepared, until: deadline))
  }

  /// Creates a client for work that `call` starts and other calls share, with the same environment but without the
  /// deadlines that apply here.
  init(sharedOf call: Call) {
    self.init(of: call, Nesting(call.prepared, until: nil, ignoring: DeadlineScope.here))
  }

  /// The origin of calls that begin now.
  var origin: CallOrigin {
    CallOrigin(host: host, environment: prepared, deadline: inheritedDeadline)
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
    (pipeline.order, pipeline.transport, host.settings.observers)
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

extension CallContext {
  /// The client of the call, in the call's environment, for calls that a middleware makes itself, such as fetching a
  /// key.
  ///
  /// Nested calls have their own limits, trace and registry entry, and end no later than the ``nearestDeadline`` of
  /// this call. A nested call needs a permit of its own and can deadlock if all permits are held by calls waiting for
  /// it. Mark such calls with ``SharedWorkKey``.
  public var client: Client { Client(of: base, until: presentEnd) }

  /// The client of the call for work that other calls share, such as fetching a token. The deadlines that apply here
  /// do not apply to its calls.
  public var sharedClient: Client { Client(sharedOf: base) }
}

extension Pipeline {
  /// Creates a pipeline without policies. Its only middlewares bind calls to their account and coalesce calls; each
  /// acts only if the environment or the endpoint enables it.
  public init() {
    self = [.principal: PrincipalBinding(), .coalescing: CoalescingMiddleware()]
  }
}
