import Apus
import ApusTesting
import Testing

#if os(Linux)
import ApusNIO
#endif

@Suite("Descriptions of clients")
struct DescribeTests {
  private let secret = "s3nt1nel"

  private func describe(
    _ preset: Configuration.Preset, over transport: any Transport = StubTransport(),
    _ change: (inout Configuration) -> Void = { _ in }
  ) -> ClientDescription {
    let api = Client(baseURL: "https://api.example.com/v1", transport: transport) {
      $0.apply(preset)
      change(&$0)
    }
    return api.describe()
  }

  @Test("The description of an app's client has the expected pipeline and no warnings")
  func app() {
    #expect(
      "\(describe(.app))" == """
        validation: CommonParametersMiddleware
        timeout: TimeoutMiddleware (30 s in total, paused while content is transferred)
        principal: PrincipalBinding
        coalescing: CoalescingMiddleware (coalesces responses up to 1048576 bytes, at most 1024 shared exchanges)
        retry: RetryMiddleware (3 attempts, backoff 200 ms, doubling up to 20 s, after 429 from 1 s, \
        Retry-After up to 60 s, retry budget 500 at 14 per retry)
        scheduling: SchedulingMiddleware (5 concurrent calls per origin, 64 in total, up to 64 per origin over HTTP/2, streams hold permits until the head, queue 100000, ageing 10 s)
        attemptTimeout: AttemptTimeoutMiddleware (10 s per attempt)
        breaker: CircuitBreaker (opens at a failure ratio of 0.5 of at least 10 exchanges in 30 s, opens after 5 consecutive failures, \
        a circuit per endpoint and per origin, open for 5 s, up to 60 s)
        redirects: RedirectMiddleware (up to 10, never from https to http)
        authentication: AuthenticationMiddleware
        transport: StubTransport
        environment: default (https://api.example.com/v1)
        """)
  }

  @Test("The description of a server's client has the expected pipeline and no warnings")
  func server() {
    #expect(
      "\(describe(.server))" == """
        validation: CommonParametersMiddleware
        timeout: TimeoutMiddleware (30 s in total, paused while content is transferred)
        principal: PrincipalBinding
        coalescing: CoalescingMiddleware (coalesces responses up to 1048576 bytes, at most 1024 shared exchanges)
        retry: RetryMiddleware (3 attempts, backoff 50 ms, doubling up to 20 s, after 429 from 1 s, \
        Retry-After up to 60 s, retry budget 500 at 14 per retry)
        scheduling: SchedulingMiddleware (64 concurrent calls per origin, up to 100 per origin over HTTP/2, streams hold permits until the head, queue 100000, ageing 10 s)
        attemptTimeout: AttemptTimeoutMiddleware (10 s per attempt)
        breaker: CircuitBreaker (opens at a failure ratio of 0.1 of at least 100 exchanges in 30 s, opens after 5 consecutive failures, \
        a circuit per endpoint and per origin, open for 5 s, up to 60 s)
        redirects: RedirectMiddleware (up to 10, never from https to http)
        authentication: AuthenticationMiddleware
        transport: StubTransport
        environment: default (https://api.example.com/v1)
        """)
  }

  @Test(
    "The description of a client with the platform's transport has no warnings",
    arguments: [Configuration.Preset.app, Configuration.Preset.server])
  func platformTransport(preset: Configuration.Preset) {
    let api = Client(baseURL: "https://api.example.com/v1") { $0.apply(preset) }
    #expect(api.describe().warnings == [])
  }

  #if os(Linux)
  @Test("The platform's transport permits a connection for each concurrent call, whichever limit applies")
  func raisedConnections() {
    let api = Client(baseURL: "https://api.example.com/v1") {
      $0.scheduler = Scheduler(ConcurrencyLimits(global: 40, perOrigin: .max))
    }
    #expect(api.describe().layers.last?.facts.first == .connections(perOrigin: 40, total: 256))
  }

  @Test("A client description warns of more concurrent calls than connections")
  func fewConnections() {
    var options = NIOTransport.Options()
    options.maximumConnectionsPerOrigin = 2
    let description = describe(.app, over: NIOTransport(options: options))
    #expect(description.contradictions.map(\.code) == [.permitsBeyondConnections])
    #expect(description.layers.last?.facts.first == .connections(perOrigin: 2, total: 256))
  }
  #endif

  @Test("A client description warns of timeouts that contradict each other")
  func times() {
    #expect(describe(.app) { $0.timeout = .seconds(5) }.contradictions.map(\.code) == [.attemptLimitBeyondTotal])
    // The full attempt timeout leaves no time for a retry. A shorter attempt timeout leaves time.
    #expect(describe(.app) { $0.timeout = .seconds(10) }.contradictions.map(\.code) == [.attemptsBeyondTotal])
    #expect(describe(.app) { $0.timeout = .seconds(15) }.warnings.isEmpty)
    #expect(
      describe(.app) { $0.attemptTimeout = .seconds(20) }.contradictions.map(\.code) == [.breakerWindowTooShort])
    #expect(describe(.app) { $0.timeout = nil }.warnings.isEmpty)
  }

  @Test("A client description does not warn of a rate limit below the concurrency limit")
  func rate() {
    #expect(describe(.app) { $0.rateLimiter = RateLimiter(.perSecond(1)) }.warnings.isEmpty)
  }

  @Test("A client description warns of a second retry next to the transport, with all its consequences")
  func secondRetry() {
    let description = describe(.app) { $0.customizePipeline = { $0.insert(RetryMiddleware(), .before(.transport)) } }
    #expect(
      description.contradictions.map(\.code) == [
        .attemptsMultiply, .permitsHeldDuringBackoff, .breakerOutsideRetry, .attemptLimitOutsideRetry,
      ])
  }

  @Test("A client description contains no credentials")
  func secrets() {
    let description = describe(.app) {
      $0.environment.baseURL = BaseURL(stringLiteral: "https://api.example.com/v1?key=\(secret)")
      $0.authentication = .bearer(MemoryCredentialsStore(token: secret))
      $0.setField("X-Api-Key", secret)
      $0.query = ["key": secret]
    }
    var dumped = ""
    dump(description, to: &dumped)
    #expect(!dumped.contains(secret) && !"\(description)".contains(secret))
    #expect(description.environment == "default (https://api.example.com/v1)")
  }
}
