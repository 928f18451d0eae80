import ApusCore
import ApusTesting
import HTTPTypes
import TestSupport

/// A client over a stub that answers when a gate opens, with the time and the observers of a test.
struct CoalescingBench {
  let stub = StubTransport()
  let clock = ManualClock()
  let log = EventLog()
  let gate = Gate()
  let api: Client

  init(
    executor: (any TaskExecutor)? = nil, middlewares: [(any Middleware, Slot)] = [],
    _ change: (inout ClientSettings) -> Void = { _ in }
  ) {
    var settings = ClientSettings()
    settings.runtime = Runtime(clock: clock, executor: executor)
    settings.observers = [log]
    change(&settings)
    var pipeline = Pipeline()
    pipeline.insert(ObeyTimeouts(), .before(.totalDeadline))
    for (middleware, slot) in middlewares { pipeline.insert(middleware, .after(slot)) }
    api = Client(
      environment: Environment(baseURL: "https://x.test"), pipeline: pipeline, transport: stub, settings: settings)
    stub.onAny(answer: .text("ok").waiting(for: gate))
  }

  func start(_ request: Request<String>) -> Task<Result<String, CallError>, Never> {
    begin(request)
  }

  func begin<Value: Sendable>(_ request: Request<Value>) -> Task<Result<Value, CallError>, Never> {
    Task { [api] in await api.result(of: request) }
  }

  /// How many calls have joined another's exchange.
  var joined: Int { log.events.count { $0.hasPrefix("joined") } }

  func waitForJoined(_ count: Int) async throws {
    try await waitWhile(joined < count)
  }

  /// Starts calls, and waits until all of them wait for one exchange, which the first has begun.
  func share(_ requests: [Request<String>]) async throws -> [Task<Result<String, CallError>, Never>] {
    var calls: [Task<Result<String, CallError>, Never>] = []
    for (index, request) in requests.enumerated() {
      calls.append(start(request))
      if index == 0 { try await gate.waitForArrivals(1) }
    }
    try await waitForJoined(requests.count - 1)
    return calls
  }

  /// Whether nothing is left of any call.
  var isClean: Bool { api.calls.isEmpty && stub.openExchanges.isEmpty }
}

extension Request where Value == String {
  /// What most of these calls ask for.
  static var shared: Request<String> { Request<String>.get("/user").coalesced() }
}
