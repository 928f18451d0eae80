import Apus
import ApusTesting
import Testing

/// The calls of a scenario through the whole pipeline.
struct PipelineWorld {
  let scenario: Scenario
  let parts: PipelineParts
  let tokens: MemoryCredentialsStore
  let ledger = Ledger()
  let api: Client

  init(_ scenario: Scenario, budget: RetryBudget = .default) {
    let parts = PipelineParts(limits: scenario.limits, rate: scenario.rate, breaker: scenario.breaker)
    let tokens = MemoryCredentialsStore(.tokens(Tokens(access: "a0", refresh: "r1")), clock: parts.clock)
    let server = scenario.server
    parts.stub.on(where: { _, _ in true }, reply: { server.answer(to: $0) })
    var configuration = parts.configuration("https://x.test/v1", seed: 5)
    configuration.authentication = .bearer(tokens) { try await $0.tokens(from: "/token") }
    configuration.retry = RetryPolicy(maximumAttempts: 3, baseDelay: .milliseconds(200))
    configuration.retryBudget = budget
    configuration.attemptTimeout = scenario.attemptTimeout
    if scenario == .offline { configuration.connectivityPolicy = .wait }
    (self.scenario, self.parts, self.tokens) = (scenario, parts, tokens)
    api = parts.client(configuration)
    prepare()
  }

  /// Sets up the scenario before the calls are made.
  private func prepare() {
    switch scenario {
    case .held: parts.scheduler.pause(PipelineParts.heldTag)
    case .offline: parts.connectivity.report(.offline)
    case .halfOpen:
      let call = Task(executorPreference: parts.executor) { [api] in
        _ = await failure { try await api.send(Request<Void>.get("/down").retry(.none).credentials(.none)) }
      }
      parts.drain()
      call.cancel()
      for case .open(let until) in parts.breaker.statuses.values { parts.clock.advance(to: until) }
    default: break
    }
  }

  /// Starts the calls, each in a task that runs on the executor.
  func start() -> [Task<Void, Never>] {
    (0..<scenario.calls).map { number in
      Task(executorPreference: parts.executor) { [scenario, ledger, api] in
        ledger.add(await scenario.call(number, by: api), of: number)
      }
    }
  }

  func disturb(_ disturbance: Disturbance, _ calls: [Task<Void, Never>]) {
    switch disturbance {
    case .cancelCalls: api.calls.cancelAll()
    case .cancelTasks: for call in calls { call.cancel() }
    case .cancelFirst: calls.first?.cancel()
    case .signOut: tokens.clear()
    case .passDeadline: parts.clock.advance(by: .seconds(30))
    case .hold:
      parts.scheduler.pauseAll()
      parts.scheduler.pause(PipelineParts.heldTag)
    }
  }
}
