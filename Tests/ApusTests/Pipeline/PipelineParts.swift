import Apus
import ApusTesting
import Testing

/// The default pipeline of an app, with all its parts controlled by the test.
struct PipelineParts: Sendable {
  enum Step {
    case job, change, nothing
  }

  /// The tag of paused calls.
  static let heldTag: Apus.Tag = "images"

  let executor = ManualExecutor()
  let clock = ManualClock(.manual)
  let stub = StubTransport()
  let endings = Endings()
  /// Serial numbers that are unique across clients.
  private let serials = Serials()
  let connectivity = Connectivity()
  let scheduler: Scheduler
  let breaker: CircuitBreaker
  let limiter: RateLimiter
  let meter: Meter

  init(limits: ConcurrencyLimits, rate: RateLimit, breaker: BreakerPolicy = .app) {
    scheduler = Scheduler(limits)
    self.breaker = CircuitBreaker(breaker)
    limiter = RateLimiter(rate)
    meter = Meter(limits)
  }

  /// Returns a configuration with these parts.
  func configuration(_ baseURL: BaseURL, seed: UInt64) -> Configuration {
    var configuration = Configuration(baseURL: baseURL)
    configuration.apply(.app)
    configuration.scheduler = scheduler
    configuration.breaker = breaker
    configuration.rateLimiter = limiter
    configuration.connectivity = connectivity
    configuration.timeout = .seconds(30)
    configuration.settings.runtime = Runtime(
      clock: clock, executor: executor, random: SeededGenerator.source(seed: seed),
      nextSerial: { [serials] in serials.next() })
    configuration.observers = [endings]
    return configuration
  }

  func client(_ configuration: Configuration) -> Client {
    Client(configuration: configuration, transport: MeteredTransport(inner: stub, meter: meter))
  }

  // MARK: Time

  /// Runs the next job. Without jobs, resumes paused calls; without paused calls, advances the clock to the next
  /// sleeper.
  func step() -> Step {
    if executor.runNext() { return .job }
    return letGo() || clock.advanceToNextWake() ? .change : .nothing
  }

  /// Runs until there are no more steps. Endless work is abandoned, which later checks detect.
  func drain() {
    for _ in 0..<100_000 {
      if step() == .nothing { return }
    }
  }

  private func letGo() -> Bool {
    if scheduler.isAllPaused || scheduler.isPaused(Self.heldTag) {
      scheduler.resumeAll()
      scheduler.resume(Self.heldTag)
      return true
    }
    guard connectivity.status == .offline, connectivity.waitingCount > 0 else { return false }
    connectivity.report(.online)
    return true
  }

  // MARK: Checks after a run

  /// Expects that every call ended once and leaked no permit, waiter, exchange, task or timer.
  func expectQuiet(_ apis: [Client], _ place: String) {
    for api in apis { #expect(api.calls.isEmpty, "registry: \(place)") }
    #expect(endings.odd.isEmpty, "ends: \(place)")
    #expect(stub.openExchanges.isEmpty, "exchanges: \(place)")
    #expect(scheduler.runningCount == 0 && scheduler.queuedCount == 0, "permits: \(place)")
    #expect(connectivity.waitingCount == 0, "network: \(place)")
    #expect(executor.pendingJobCount == 0 && clock.sleepers == 0, "tasks: \(place)")
    #expect(meter.inside == 0 && meter.excesses.isEmpty, "limits: \(place) \(meter.excesses)")
  }

  /// Performs another call some time later and expects it to pass immediately. Leaked resources of earlier calls would
  /// delay or refuse it.
  func expectUntroubled(_ api: Client, _ place: String) {
    connectivity.report(.online)
    clock.advance(by: .seconds(60))
    for case .open(let until) in breaker.statuses.values { clock.advance(to: until) }
    let told = Log<Result<Trace, CallError>>()
    let call = Task(executorPreference: executor) {
      do throws(CallError) {
        told.add(.success(try await api.response(to: Request<Void>.get("/after")).trace))
      } catch {
        told.add(.failure(error))
      }
    }
    drain()
    switch told.all.first {
    case .success(let trace)?:
      let waits = trace.events.map(\.kind).filter(\.isWait)
      #expect(waits.isEmpty, "afterwards: \(place) \(trace)")
    case .failure(let error)?: Issue.record("afterwards: \(place) \(error)")
    case nil:
      Issue.record("afterwards, for ever: \(place)")
      call.cancel()
      drain()
    }
  }
}
