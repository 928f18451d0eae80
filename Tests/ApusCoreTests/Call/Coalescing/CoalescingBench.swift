import ApusCore
import ApusTesting
import HTTPTypes
import TestSupport

/// A client over a stub that responds when a gate opens, with a manual clock and a recorded event log.
struct CoalescingBench {
  let stub = StubTransport()
  let clock = ManualClock(.manual)
  let log = EventLog()
  let gate = Gate()
  let api: Client

  init(
    executor: (any TaskExecutor)? = nil, middlewares: [(any Middleware, Slot)] = [],
    limits: CoalescingLimits = CoalescingLimits(), _ change: (inout ClientSettings) -> Void = { _ in }
  ) {
    var settings = ClientSettings()
    settings.runtime = Runtime(clock: clock, executor: executor)
    settings.observers = [log]
    change(&settings)
    var pipeline: Pipeline = [
      .timeout: ObeyTimeouts(), .principal: PrincipalBinding(), .coalescing: CoalescingMiddleware(limits),
    ]
    for (middleware, slot) in middlewares { pipeline.insert(middleware, .after(slot)) }
    api = Client(
      environment: Environment(baseURL: "https://x.test"), pipeline: pipeline, transport: stub, settings: settings)
    stub.onAny(reply: .text("ok").waiting(for: gate))
  }

  func start(_ request: Request<String>) -> Task<Result<String, CallError>, Never> {
    begin(request)
  }

  func begin<Value: Sendable>(_ request: Request<Value>) -> Task<Result<Value, CallError>, Never> {
    Task { [api] in await api.result(of: request) }
  }

  /// The number of calls that have joined the exchange of another call.
  var joined: Int { log.events.count { $0.hasPrefix("coalesced") } }

  func waitForJoined(_ count: Int) async throws {
    try await waitWhile(joined < count)
  }

  /// Starts calls, and waits until all of them share the exchange of the first.
  func share(_ requests: [Request<String>]) async throws -> [Task<Result<String, CallError>, Never>] {
    var calls: [Task<Result<String, CallError>, Never>] = []
    for (index, request) in requests.enumerated() {
      calls.append(start(request))
      if index == 0 { try await gate.waitForArrivals(1) }
    }
    try await waitForJoined(requests.count - 1)
    return calls
  }

  /// Whether all calls and exchanges have ended.
  var isClean: Bool { api.calls.isEmpty && stub.openExchanges.isEmpty }
}

extension CoalescingLimits {
  /// Creates the default limits with a change.
  init(_ change: (inout CoalescingLimits) -> Void) {
    self.init()
    change(&self)
  }
}

extension Endpoint where Self == Request<String> {
  /// The request that most of these tests send.
  static var shared: Self { Request<String>.get("/user").coalesced() }
}
