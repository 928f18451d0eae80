import Apus
import ApusTesting
import Testing

/// The whole default pipeline as an app has it, with every part of it in the test's hand.
struct PipelineParts: Sendable {
  enum Step {
    case job, change, nothing
  }

  /// The tag of calls that tests hold.
  static let heldTag: Apus.Tag = "images"

  let executor = ManualExecutor()
  let clock = ManualClock()
  let stub = StubTransport()
  let endings = Endings()
  /// For the calls of all clients, so that no two have one number.
  private let serials = Serials()
  let connectivity = Connectivity()
  let scheduler: Scheduler
  let breaker: CircuitBreaker
  let limiter: RateLimiter
  let meter: Meter

  init(limits: SchedulingLimits, rate: RateLimit, breaker: BreakerPolicy = .interactive) {
    scheduler = Scheduler(limits)
    self.breaker = CircuitBreaker(breaker)
    limiter = RateLimiter(rate)
    meter = Meter(limits)
  }

  /// A configuration with these parts.
  func configuration(_ baseURL: BaseURL, seed: UInt64) -> Configuration {
    var configuration = Configuration(baseURL: baseURL)
    configuration.suit(.app)
    configuration.scheduler = scheduler
    configuration.breaker = breaker
    configuration.rateLimiter = limiter
    configuration.connectivity = connectivity
    configuration.timeout = .seconds(30)
    configuration.settings.runtime = Runtime(
      clock: clock, executor: executor, random: SeededGenerator.source(seed: seed),
      nextSerial: { [serials] in serials.next() })
    configuration.settings.observers = [endings]
    return configuration
  }

  func client(_ configuration: Configuration) -> Client {
    Client(configuration: configuration, transport: MeteredTransport(inner: stub, meter: meter))
  }

  // MARK: Time

  /// Runs the next job; where there is none, lets go what is held, and at last moves the clock to the next sleeper.
  func step() -> Step {
    if executor.runNext() { return .job }
    return letGo() || clock.advanceToNextWake() ? .change : .nothing
  }

  /// Goes on until nothing is left to do. Work without an end is left where it stands: what it leaves open shows.
  func drain() {
    for _ in 0..<100_000 {
      if step() == .nothing { return }
    }
  }

  private func letGo() -> Bool {
    if scheduler.isHoldingEverything || scheduler.isHolding(Self.heldTag) {
      scheduler.releaseEverything()
      scheduler.release(Self.heldTag)
      return true
    }
    guard connectivity.status == .offline, connectivity.waiting > 0 else { return false }
    connectivity.report(.online)
    return true
  }

  // MARK: What holds afterwards

  /// Nothing is left of any call: no permit, no waiter, no exchange, no task, no timer, and each has ended once.
  func expectQuiet(_ apis: [Client], _ place: String) {
    for api in apis { #expect(api.calls.isEmpty, "registry: \(place)") }
    #expect(endings.odd.isEmpty, "ends: \(place)")
    #expect(stub.openExchanges.isEmpty, "exchanges: \(place)")
    #expect(scheduler.running == 0 && scheduler.waiting == 0, "permits: \(place)")
    #expect(connectivity.waiting == 0, "network: \(place)")
    #expect(executor.pendingCount == 0 && clock.sleepers == 0, "tasks: \(place)")
    #expect(meter.inside == 0 && meter.excesses.isEmpty, "limits: \(place) \(meter.excesses)")
  }

  /// One more call, some time later, goes straight through: whatever else was kept of the others would hold it up or
  /// have it refused.
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
