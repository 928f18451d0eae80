import Apus
import ApusTesting
import Testing

/// Calls that run into a trouble on their way through the whole pipeline.
struct PipelineWorld {
  let trouble: Trouble
  let parts: PipelineParts
  let tokens: MemoryCredentials
  let ledger = Ledger()
  let api: Client

  init(_ trouble: Trouble, budget: RetryBudget = .standard) {
    let parts = PipelineParts(limits: trouble.limits, rate: trouble.rate, breaker: trouble.breaker)
    let tokens = MemoryCredentials(.tokens(Tokens(access: "a0", refresh: "r1")), clock: parts.clock)
    let server = trouble.server
    parts.stub.on(where: { _, _ in true }, answer: { server.answer(to: $0) })
    var configuration = parts.configuration("https://x.test/v1", seed: 5)
    configuration.authentication = .bearer(tokens) { try await $0.tokens(from: "/token") }
    configuration.retry = RetryPolicy(attempts: 3, base: .milliseconds(200))
    configuration.retryBudget = budget
    configuration.attemptTimeout = trouble.attemptTimeout
    if trouble == .offline { configuration.connectivityPolicy = .wait }
    (self.trouble, self.parts, self.tokens) = (trouble, parts, tokens)
    api = parts.client(configuration)
    prepare()
  }

  /// Sets up the trouble before the calls are made.
  private func prepare() {
    switch trouble {
    case .held: parts.scheduler.hold(PipelineParts.heldTag)
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

  /// Makes the calls, each in a task that runs on the executor.
  func start() -> [Task<Void, Never>] {
    (0..<trouble.calls).map { number in
      Task(executorPreference: parts.executor) { [trouble, ledger, api] in
        ledger.add(await trouble.call(number, by: api), of: number)
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
      parts.scheduler.holdEverything()
      parts.scheduler.hold(PipelineParts.heldTag)
    }
  }
}
