/// Sends endpoints to one server and returns their values.
///
/// A client is a small value; copies share calls, environment and connections. Use one client for each server: clients
/// share nothing.
public struct Client: Sendable {
  let host: CallHost
  let path: Path
  /// What a client for nested calls takes over from the outer call; `nil` for a client that the app made.
  private var nesting: Nesting?

  /// What the client of an outer call passes on. A class, so that a client stays small.
  private final class Nesting: Sendable {
    let environment: PreparedEnvironment
    /// An instant of the client's clock; `nil`: no limit.
    let deadline: MonotonicInstant?
    /// Deadlines in force at the outer call that do not bind its nested calls, because those serve other calls too.
    let ignoredScopes: [DeadlineScope]

    init(_ environment: PreparedEnvironment, until deadline: MonotonicInstant?, ignoring scopes: [DeadlineScope] = []) {
      (self.environment, self.deadline, ignoredScopes) = (environment, deadline, scopes)
    }
  }

  /// Makes a client of its parts. `Apus` has initialisers with defaults for all of them.
  ///
  /// - Parameters:
  ///   - environment: the server.
  ///   - pipeline: the middlewares in order. Default: ``Pipeline/init()``.
  ///   - transport: sends messages.
  ///   - settings: coders, limits, texts, observers, clock.
  public init(
    environment: Environment, pipeline: Pipeline = Pipeline(), transport: any Transport,
    settings: ClientSettings = ClientSettings()
  ) {
    path = Path(pipeline, transport: transport)
    host = CallHost(environment, route: path, settings: settings)
  }

  private init(of call: Call, _ nesting: Nesting) {
    host = call.host
    // The route of a host is the path that its client was made with.
    path = unsafeDowncast(call.host.route, to: Path.self)
    self.nesting = nesting
  }

  /// The client for calls nested in `call`: same environment, over at `deadline`.
  init(of call: Call, until deadline: MonotonicInstant?) {
    self.init(of: call, Nesting(call.prepared, until: deadline))
  }

  /// The client for work that `call` starts and other calls share: same environment, bound by no deadline in force here.
  init(sharedOf call: Call) {
    self.init(of: call, Nesting(call.prepared, until: nil, ignoring: DeadlineScope.here))
  }

  /// Where calls that begin now come from.
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

  /// Switches to another environment. Calls that begin from now on use it; running calls keep theirs.
  public func use(_ environment: Environment) {
    host.use(environment)
  }

  /// The middlewares in order, the transport and the observers, for descriptions of the client.
  package var parts: (pipeline: Pipeline, transport: any Transport, observers: [any CallObserver]) {
    (path.pipeline, path.transport, host.settings.observers)
  }

  /// Runs work that may make any number of calls within one time limit, on this client's clock.
  ///
  /// The limit binds the calls of all clients, see ``withDeadline(_:on:_:)``.
  ///
  /// - Parameters:
  ///   - limit: the time for all calls together. If it is not positive, no call is sent.
  ///   - work: makes the calls; runs on the caller's actor.
  /// - Returns: what `work` returns.
  /// - Throws: what `work` throws.
  public func withDeadline<Output, Failure: Error>(
    _ limit: Duration, _ work: () async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    let clock = host.runtime.clock
    let deadline = Deadline(clock.now.advanced(by: limit), on: clock)
    return try await DeadlineScope.perform(until: deadline, work).get()
  }
}

extension CallContext {
  /// The client of the call, in the call's environment, for calls that a middleware makes itself, such as fetching a key.
  ///
  /// Nested calls have their own limits, trace and registry entry, and end at the ``nearestDeadline`` of this call at the
  /// latest. A nested call needs a permit of its own and can deadlock if all permits are held by calls waiting for it.
  /// Mark such calls with ``SharedWorkKey``.
  public var client: Client { Client(of: base, until: presentEnd) }

  /// The client of the call for work that other calls share, such as fetching a token. No deadline in force here binds its
  /// calls.
  public var sharedClient: Client { Client(sharedOf: base) }
}

extension Pipeline {
  /// Makes the pipeline of a client without policies: it binds calls to their accounts and coalesces them, where
  /// environments and endpoints ask for that.
  public init() {
    self = [.principal: PrincipalBinding(), .coalescing: CoalescingMiddleware()]
  }
}
