import Apus
import ApusTesting

/// Random calls of two clients through the whole pipeline, with random disturbances of calls, servers, network and
/// session. The seed determines everything.
struct PipelineStorm {
  private static let paths: [RequestPath] = ["/users/\(7)", "/moved", "/quick", "/slow"]
  private static let tags: [Tag] = [PipelineParts.heldTag, "news"]

  let parts: PipelineParts
  /// The outcomes of the calls.
  let ledger = Ledger()
  let apis: [Client]
  private let server = ScenarioServer()
  private let tokens: MemoryCredentialsStore
  private var random: SeededGenerator
  private(set) var calls: [Task<Void, Never>] = []

  init(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var limits = ConcurrencyLimits(
      global: Int.random(in: 1...6, using: &random), perOrigin: Int.random(in: 1...4, using: &random))
    if Bool.random(using: &random) { limits.tags[PipelineParts.heldTag] = Int.random(in: 1...2, using: &random) }
    limits.queueCapacity = Int.random(in: 3...30, using: &random)
    limits.ageing = .seconds(Int.random(in: 0...3, using: &random))
    var breaker = BreakerPolicy.app
    // A long duration, so that a trial slot that is not released blocks later calls.
    breaker.maximumOpenDuration = .seconds(600)
    let parts = PipelineParts(
      limits: limits, rate: .perSecond(Int.random(in: 1...20, using: &random)), breaker: breaker)
    let tokens = MemoryCredentialsStore(.tokens(Tokens(access: "a0", refresh: "r1")), clock: parts.clock)
    let server = server
    parts.stub.on(where: { _, _ in true }, reply: { server.answer(to: $0) })
    // One server requires a token; the other server does not.
    var guarded = parts.configuration("https://x.test/v1", seed: seed)
    guarded.authentication = .bearer(tokens) { try await $0.tokens(from: "/token") }
    let open = parts.configuration("https://open.test/v1", seed: ~seed)
    apis = [parts.client(guarded), parts.client(open)]
    (self.parts, self.tokens, self.random) = (parts, tokens, random)
  }

  // MARK: Steps

  mutating func step() {
    switch Int.random(in: 0..<24, using: &random) {
    case 0..<6: call()
    case 6, 7: cancel()
    case 8: toggleTag()
    case 9: toggleEverything()
    case 10, 11: server.turn(to: ScenarioServer.Weather.allCases.randomElement(using: &random) ?? .fair)
    case 12: if Bool.random(using: &random) { tokens.clear() } else { tokens.set(server.signIn()) }
    case 13: parts.connectivity.report(parts.connectivity.status == .offline ? .online : .offline)
    case 14, 15: parts.clock.advance(by: .milliseconds(Int.random(in: 1...2000, using: &random)))
    case 16: parts.clock.advanceToNextWake()
    default: runJobs(Int.random(in: 1...30, using: &random))
    }
  }

  /// Resumes all paused calls and runs until there are no more steps.
  mutating func finish() {
    server.turn(to: .fair)
    parts.connectivity.report(.online)
    parts.scheduler.resumeAll()
    parts.scheduler.resume(PipelineParts.heldTag)
    for _ in 0..<200_000 {
      guard parts.executor.runNext(using: &random) || parts.clock.advanceToNextWake() else { return }
    }
  }

  private mutating func runJobs(_ count: Int) {
    for _ in 0..<count {
      guard parts.executor.runNext(using: &random) else { return }
    }
  }

  private mutating func call() {
    let number = calls.count
    let request = randomRequest()
    let isStreamed = Int.random(in: 0..<5, using: &random) == 0
    let api = apis[Int.random(in: 0..<apis.count, using: &random)]
    let call = Task(executorPreference: parts.executor) { [ledger] in
      ledger.add(await Self.outcome(of: request, by: api, isStreamed: isStreamed), of: number)
    }
    calls.append(call)
  }

  private static func outcome(
    of request: Request<String>, by api: Client, isStreamed: Bool
  ) async -> Ledger.Outcome {
    do throws(CallError) {
      guard isStreamed else { return .success(try await api.send(request).utf8.count) }
      return .success(try await api.withResponse(to: request) { try await $0.collect().count })
    } catch {
      return .failure(error)
    }
  }

  private mutating func randomRequest() -> Request<String> {
    let path = Self.paths.randomElement(using: &random) ?? "/quick"
    var request = Int.random(in: 0..<4, using: &random) == 0 ? Request<String>.post(path) : Request<String>.get(path)
    request = request.timeout(.seconds(Int.random(in: 1...60, using: &random)))
    request = request.priority(CallPriority.allCases.randomElement(using: &random) ?? .normal)
    if let tag = Self.tags.randomElement(using: &random), Bool.random(using: &random) { request = request.tag(tag) }
    let policies: [DuplicatePolicy] = [.coalesce, .coalesce, .cancelPrevious, .refuse]
    if let policy = policies.randomElement(using: &random), Bool.random(using: &random) {
      request = request.id("same", onDuplicate: policy)
    }
    if Bool.random(using: &random) { request = request.coalesced() }
    if let policy = ConnectivityPolicy.allCases.randomElement(using: &random) { request = request.connectivity(policy) }
    return request
  }

  private mutating func cancel() {
    let api = apis[Int.random(in: 0..<apis.count, using: &random)]
    switch Int.random(in: 0..<8, using: &random) {
    case 0: api.calls.cancelAll()
    case 1: api.calls.cancel(tag: PipelineParts.heldTag)
    case 2: api.calls.cancel(id: "same")
    case 3: api.calls.all.randomElement(using: &random)?.cancel()
    default: calls.randomElement(using: &random)?.cancel()
    }
  }

  private func toggleTag() {
    let (scheduler, tag) = (parts.scheduler, PipelineParts.heldTag)
    if scheduler.isPaused(tag) { scheduler.resume(tag) } else { scheduler.pause(tag) }
  }

  private func toggleEverything() {
    let scheduler = parts.scheduler
    if scheduler.isAllPaused { scheduler.resumeAll() } else { scheduler.pauseAll() }
  }
}
