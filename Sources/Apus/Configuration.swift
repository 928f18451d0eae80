/// The settings of a client. On Linux the defaults are for servers, on other platforms for apps (``Preset``).
///
/// ```swift
/// let api = Client(baseURL: "https://api.example.com/v1") {
///   $0.authentication = .bearer(tokens)
///   $0.timeout = .seconds(60)
/// }
/// ```
public struct Configuration: Sendable {
  /// The server: base URL, common fields (headers) and query parameters, authentication.
  public var environment: Environment
  /// The settings of the client. Most apps change only the settings that are also properties of the configuration:
  /// ``json``, ``envelope``, ``contentLimit``, ``errorTexts``, ``observers``, ``clock`` and ``coalesces``.
  public var settings = ClientSettings()
  /// The default timeout of a whole call (`.timeout(_:)`); `nil`: none. Default: 30 seconds.
  ///
  /// Waiting, all attempts and redirects count. Time during which content (the body) is transferred does not count; the
  /// call then ends after 20 seconds without a byte, or below 1 KiB/s over 60 seconds. For a streamed call the timeout
  /// applies up to the response head.
  public var timeout: Duration? = .seconds(30)
  /// The default timeout of each attempt (`.attemptTimeout(_:)`), from its permit to the response head; `nil`: none.
  /// Default: 10 seconds.
  ///
  /// The timeout applies only if another attempt may follow, and not to calls with a timeout of more than 30 seconds.
  /// After an attempt that timed out while waiting for the response head, the next attempt gets all the remaining time.
  public var attemptTimeout: Duration? = .seconds(10)
  /// The default retry policy of calls (`.retry(_:)`). Default: the policy of the platform's ``Preset``.
  public var retry = RetryPolicy.app
  /// The retry budget per origin, over all calls of the client. Default: ``RetryBudget/default``.
  public var retryBudget = RetryBudget.default
  /// The scheduler, with concurrency limits and priorities; `nil`: calls run without a limit. Clients with the same
  /// scheduler share its limits. Default: a new scheduler for each configuration, with the limits of the platform's
  /// ``Preset``.
  public var scheduler: Scheduler?
  /// The circuit breaker, which refuses calls to endpoints and origins that keep failing; `nil`: no breaker. Clients
  /// with the same breaker share its circuits. Default: a new breaker for each configuration, with the policy of the
  /// platform's ``Preset``.
  public var breaker: CircuitBreaker?
  /// The rate limiter: token buckets, and the delays that servers request with 429; `nil`: no rate limit. Clients with
  /// the same limiter share its limits. Default: `nil`.
  public var rateLimiter: RateLimiter?
  /// The connectivity of the device; `nil`: unknown, every call tries to connect. Default: `nil`.
  public var connectivity: Connectivity?
  /// The default policy for calls that start while there is no network (`.connectivity(_:)`). It applies only if
  /// ``connectivity`` is set. Default: ``ConnectivityPolicy/pauseRetries``.
  public var connectivityPolicy = ConnectivityPolicy.pauseRetries
  /// The cache, which stores responses and uses them for later calls; `nil`: nothing is stored. Clients with the same
  /// cache share it. Default: `nil`.
  public var cache: ResponseCache?
  /// The limits of coalescing. Default: ``CoalescingLimits/init()``.
  public var coalescing = CoalescingLimits()
  /// The default redirect policy of calls (`.redirects(_:)`). Default: up to 10 redirects, never from https to http.
  public var redirects: RedirectPolicy = .follow
  /// The origins to which requests and redirects may go, in addition to the base URL's origin; `nil`: any origin.
  /// Default: `nil`. A client that sends requests to untrusted URLs also needs an ``AddressPolicy`` of its transport.
  public var allowedOrigins: Set<Origin>?
  /// Logs the beginning and the end of each call; `nil`: no logging. Default: `nil`.
  public var logging: RequestLogging?
  /// Called once for each session that ends, with the reason: see the table of ``SessionEnd``. Default: `nil`.
  public var onSessionEnd: (@Sendable (SessionEnd) -> Void)?
  /// Changes the assembled pipeline, for example `{ $0.insert(signing, .before(.transport)) }`. Default: no change.
  public var customizePipeline: @Sendable (inout Pipeline) -> Void = { _ in }

  /// Creates a configuration with the defaults of the platform: ``Preset/server`` on Linux, ``Preset/app`` elsewhere.
  ///
  /// - Parameter baseURL: the URL of the server.
  public init(baseURL: BaseURL) {
    environment = Environment(baseURL: baseURL)
    apply(.platform)
  }

  /// The authentication of calls, a part of ``environment``.
  public var authentication: Authentication? {
    get { environment.authentication }
    set { environment.authentication = newValue }
  }

  /// The jar that keeps cookies, a part of ``environment``; `nil`: cookies are neither kept nor sent. Default: `nil`.
  public var cookies: CookieJar? {
    get { environment.cookies }
    set { environment.cookies = newValue }
  }

  /// The JSON coders of all calls.
  public var json: JSONCoding {
    get { settings.coding.effectiveJSON }
    set { settings.coding.json = newValue }
  }

  /// The envelope around the responses of all calls; `nil`: none. Default: `nil`.
  public var envelope: EnvelopeFormat? {
    get { settings.coding.envelope }
    set { settings.coding.envelope = newValue }
  }

  /// The maximum number of content (body) bytes that a call reads into memory. Default: 64 MiB.
  public var contentLimit: Int {
    get { settings.contentLimit }
    set { settings.contentLimit = newValue }
  }

  /// The sentences of errors. Default: English.
  public var errorTexts: ErrorTexts {
    get { settings.errorTexts }
    set { settings.errorTexts = newValue }
  }

  /// The observers of all events of all calls, for example for metrics, called in this order. Default: none.
  public var observers: [any CallObserver] {
    get { settings.observers }
    set { settings.observers = newValue }
  }

  /// The clock for events, delays and timeouts. Default: ``SystemClock``.
  public var clock: any MonotonicClock {
    get { settings.runtime.clock }
    set { settings.runtime.clock = newValue }
  }

  /// The query parameters of every request, unless the request has a parameter of the same name. A part of
  /// ``environment``.
  public var query: Query {
    get { environment.query }
    set { environment.query = newValue }
  }

  /// Whether identical safe requests in flight are coalesced by default, within the limits of ``coalescing``; endpoints
  /// can override this (``Endpoint/coalesced(_:)``). Default: `false`.
  public var coalesces: Bool {
    get { settings.coalesces }
    set { settings.coalesces = newValue }
  }

  /// Sets a field (header) on every request without a field of that name. Mark a secret as sensitive, see ``RawField``.
  public mutating func setField(_ name: String, _ value: String, isSensitive: Bool = false) {
    environment.setField(name, value, isSensitive: isSensitive)
  }
}
