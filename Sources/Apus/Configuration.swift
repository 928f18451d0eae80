/// Everything that can be said about a client, each with a default that suits an app; on Linux, a server (``Use``).
///
/// ```swift
/// let api = Client(baseURL: "https://api.example.com/v1") {
///   $0.authentication = .bearer(tokens)
///   $0.timeout = .seconds(60)
/// }
/// ```
public struct Configuration: Sendable {
  /// The server: base URL, common fields and parameters, authentication.
  public var environment: Environment
  /// Coders, limits, texts, observers, surroundings.
  public var settings = ClientSettings()
  /// The limit of a whole call that sets none (`.timeout(_:)`); `nil`: no limit. Default: 30 seconds.
  ///
  /// Waiting, all attempts and redirects count. Time in which content moves does not: then the call ends after 20 seconds
  /// without a byte, or below 1 KiB/s over 60 seconds. A streamed call has the limit up to its response head. See
  /// ``TotalDeadline``.
  public var timeout: Duration? = .seconds(30)
  /// The limit of one attempt of calls that set none (`.attemptTimeout(_:)`), from its turn to the head of its answer;
  /// `nil`: no limit. Default: 10 seconds.
  ///
  /// It applies only if another attempt may follow, and not to calls with a timeout of more than 30 seconds. After an
  /// attempt that timed out waiting for the response head, the next one gets all the remaining time. See
  /// ``AttemptDeadline``.
  public var attemptTimeout: Duration? = .seconds(10)
  /// Which failures are tried again by calls that do not say so themselves. Default: see ``Use``.
  public var retry = RetryPolicy.interactive
  /// How much is tried again at one server, all calls together. Default: ``RetryBudget/standard``.
  public var retryBudget = RetryBudget.standard
  /// How many calls run at a time, and which go first; `nil`: all at once, as they come. One for several clients has
  /// them share its limits. Default: one of its own for each configuration that is made, see ``Use``.
  public var scheduler: Scheduler?
  /// Refuses calls to servers that keep failing; `nil`: none are refused. One for several clients has them share what
  /// they know. Default: one of its own for each configuration that is made, see ``Use``.
  public var breaker: CircuitBreaker?
  /// Keeps the pace that servers ask for, or one of its own; `nil`: there is none. Default: `nil`.
  public var rateLimiter: RateLimiter?
  /// What is known of the device's network; `nil`: nothing, every call finds out for itself. Default: `nil`.
  public var connectivity: Connectivity?
  /// What calls that do not say so themselves do while there is no network, where ``connectivity`` is set. Default:
  /// ``ConnectivityPolicy/pauseRetries``.
  public var connectivityPolicy = ConnectivityPolicy.pauseRetries
  /// The limits for calls of coalesced endpoints. Default: ``CoalescingLimits/init()``.
  public var coalescing = CoalescingLimits()
  /// Which redirects are followed by calls that do not say so themselves. Default: up to 10, never from https to http.
  public var redirects: RedirectPolicy = .follow
  /// Writes a line for each call's beginning and end; `nil`: no logging. Default: `nil`.
  public var logging: RequestLogging?
  /// Told once of each session that is over, and why: see the table of ``SessionEnd``. Default: nobody.
  public var onSessionEnd: (@Sendable (SessionEnd) -> Void)?
  /// Changes the assembled pipeline, for example `{ $0.insert(signing, .beforeTransport) }`. Default: no change.
  public var customizePipeline: @Sendable (inout Pipeline) -> Void = { _ in }

  /// The defaults for a server, as suits the platform: ``Use/server`` on Linux, ``Use/app`` elsewhere.
  public init(baseURL: BaseURL) {
    environment = Environment(baseURL: baseURL)
    suit(.platform)
  }

  /// How calls show who is calling; belongs to the environment.
  public var authentication: Authentication? {
    get { environment.authentication }
    set { environment.authentication = newValue }
  }

  /// The JSON coders of all calls.
  public var json: JSONCoding {
    get { settings.coding.effectiveJSON }
    set { settings.coding.json = newValue }
  }

  /// Query parameters on every request that has none of the same name; belong to the environment.
  public var query: Query {
    get { environment.query }
    set { environment.query = newValue }
  }

  /// Whether identical safe requests in flight are coalesced unless their endpoints say otherwise
  /// (``Endpoint/coalesced(_:)``), within the limits of ``coalescing``. Default: `false`.
  public var coalesces: Bool {
    get { settings.coalesces }
    set { settings.coalesces = newValue }
  }

  /// Sets a field on every request that does not set it itself; a secret is marked as sensitive, see ``RawField``.
  public mutating func setField(_ name: String, _ value: String, isSensitive: Bool = false) {
    environment.setField(name, value, isSensitive: isSensitive)
  }
}
