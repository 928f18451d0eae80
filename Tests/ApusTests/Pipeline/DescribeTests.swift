import Apus
import ApusTesting
import Testing

#if NIO && os(Linux)
  import ApusNIO
#endif

@Suite("Clients that describe themselves")
struct DescribeTests {
  private let secret = "s3nt1nel"

  private func describe(
    _ use: Configuration.Use, over transport: any Transport = StubTransport(),
    _ change: (inout Configuration) -> Void = { _ in }
  ) -> ClientDescription {
    let api = Client(baseURL: "https://api.example.com/v1", transport: transport) {
      $0.suit(use)
      change(&$0)
    }
    return api.describe()
  }

  @Test("An app's client has this pipeline without contradictions")
  func app() {
    #expect(
      "\(describe(.app))" == """
        validation: CommonParameters
        totalDeadline: TotalDeadline (30 s in all, not while content moves)
        principal: PrincipalBinding
        coalescing: CoalescingMiddleware (joins responses up to 1048576 bytes, at most 1024 shared exchanges)
        retry: Retry (3 attempts, pauses up to 200 ms doubling to 20 s, after status 429 from 1 s, \
        a server's delay up to 60 s, budget 500 at 14 an attempt)
        scheduling: Scheduling (5 at a time to one origin, 64 in all, streams up to the head, queue 100000, ageing 10 s)
        attemptDeadline: AttemptDeadline (10 s an attempt)
        breaker: CircuitBreaker (opens at 0.5 failed of at least 10 in 30 s, opens after 5 failures in a row, \
        a circuit for each endpoint and one for each origin, stays open 5 s, at most 60 s)
        redirects: Redirects (up to 10, never from https to http)
        credentials: Credentials
        transport: StubTransport
        environment: default (https://api.example.com/v1)
        """)
  }

  @Test("A server's client has this pipeline without contradictions")
  func server() {
    #expect(
      "\(describe(.server))" == """
        validation: CommonParameters
        totalDeadline: TotalDeadline (30 s in all, not while content moves)
        principal: PrincipalBinding
        coalescing: CoalescingMiddleware (joins responses up to 1048576 bytes, at most 1024 shared exchanges)
        retry: Retry (3 attempts, pauses up to 50 ms doubling to 20 s, after status 429 from 1 s, \
        a server's delay up to 60 s, budget 500 at 14 an attempt)
        scheduling: Scheduling (64 at a time to one origin, streams up to the head, queue 100000, ageing 10 s)
        attemptDeadline: AttemptDeadline (10 s an attempt)
        breaker: CircuitBreaker (opens at 0.1 failed of at least 100 in 30 s, opens after 5 failures in a row, \
        a circuit for each endpoint and one for each origin, stays open 5 s, at most 60 s)
        redirects: Redirects (up to 10, never from https to http)
        credentials: Credentials
        transport: StubTransport
        environment: default (https://api.example.com/v1)
        """)
  }

  #if URLSession || (NIO && os(Linux))
    @Test(
      "The platform's own transport causes no contradictions either",
      arguments: [Configuration.Use.app, Configuration.Use.server])
    func platformTransport(use: Configuration.Use) {
      let api = Client(baseURL: "https://api.example.com/v1") { $0.suit(use) }
      #expect(api.describe().warnings.map(\.sentence) == [])
    }
  #endif

  #if NIO && os(Linux)
    @Test("The platform's own transport has a connection for each call that may run, whichever limit applies")
    func raisedConnections() {
      let api = Client(baseURL: "https://api.example.com/v1") {
        $0.scheduler = Scheduler(SchedulingLimits(total: 40, perOrigin: .max))
      }
      #expect(api.describe().layers.last?.facts.first == .connections(perOrigin: 40, total: 256))
    }

    @Test("More concurrent calls than connections are reported")
    func fewConnections() {
      var options = NIOTransport.Options()
      options.connectionsPerOrigin = 2
      let description = describe(.app, over: NIOTransport(options: options))
      #expect(description.warnings.map(\.code) == [.permitsBeyondConnections])
      #expect(description.layers.last?.facts.first == .connections(perOrigin: 2, total: 256))
    }
  #endif

  @Test("Timeouts that contradict each other are reported")
  func times() {
    #expect(describe(.app) { $0.timeout = .seconds(5) }.warnings.map(\.code) == [.attemptLimitBeyondTotal])
    // An attempt that takes its full timeout leaves no time for a retry; a shorter timeout does.
    #expect(describe(.app) { $0.timeout = .seconds(10) }.warnings.map(\.code) == [.attemptsBeyondTotal])
    #expect(describe(.app) { $0.timeout = .seconds(15) }.warnings.isEmpty)
    #expect(
      describe(.app) { $0.attemptTimeout = .seconds(20) }.warnings.map(\.code) == [.breakerWindowTooShort])
    #expect(describe(.app) { $0.timeout = nil }.warnings.isEmpty)
  }

  @Test("A rate limit below the concurrency limit is not a contradiction")
  func rate() {
    #expect(describe(.app) { $0.rateLimiter = RateLimiter(.perSecond(1)) }.warnings.isEmpty)
  }

  @Test("A second retry next to the transport is reported with all its consequences")
  func secondRetry() {
    let description = describe(.app) { $0.customizePipeline = { $0.insert(Retry(), .beforeTransport) } }
    #expect(
      description.warnings.map(\.code) == [
        .attemptsMultiply, .permitsHeldInPauses, .breakerOutsideRetry, .attemptLimitOutsideRetry,
      ])
  }

  @Test("The description contains no credentials")
  func secrets() {
    let description = describe(.app) {
      $0.environment.baseURL = BaseURL(stringLiteral: "https://api.example.com/v1?key=\(secret)")
      $0.authentication = .bearer(MemoryCredentials(token: secret))
      $0.setField("X-Api-Key", secret)
      $0.query = ["key": secret]
    }
    var dumped = ""
    dump(description, to: &dumped)
    #expect(!dumped.contains(secret) && !"\(description)".contains(secret))
    #expect(description.environment == "default (https://api.example.com/v1)")
  }
}
