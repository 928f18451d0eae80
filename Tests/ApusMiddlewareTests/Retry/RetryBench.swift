import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

/// Calls with retries over a stub transport and a virtual clock.
struct RetryBench: Sendable {
  let stub = StubTransport()
  let clock = ManualClock()

  /// A client whose lot is always one half.
  func client(
    _ policy: RetryPolicy = .interactive, budget: RetryBudget = .standard, timeout: Duration? = nil,
    customize: @escaping (inout Pipeline) -> Void = { _ in }
  ) -> Client {
    var client = TestClient()
    client.settings.runtime.clock = clock
    client.settings.runtime.random = { 0x8000_0000_0000_0000 }
    client.timeout = timeout
    client.customize = {
      $0.insert(Retry(policy, budget: budget), .after(.retry))
      customize(&$0)
    }
    return client.over(stub)
  }

  /// Responds to pings with one response after the other.
  func answer(_ answers: StubAnswer...) {
    for method in [HTTPRequest.Method.get, .put, .post] { stub.on(method, "/v1/ping", answers: answers) }
  }

  /// Makes a call, lets the time pass whenever it pauses, and gives its error. Only for clients without a deadline.
  func outcome(of request: Request<Void> = .ping, _ api: Client) async -> CallError? {
    let ended = Gate()
    let call = Task {
      let error = await failure { try await api.send(request) }
      ended.open()
      return error
    }
    while !ended.isOpen {
      if !clock.advanceToNextWake() { await Task.yield() }
    }
    return await call.value
  }
}

extension StubAnswer {
  /// The server is busy, and says for how long or whatever else.
  static func busy(_ status: Int = 503, fields: HTTPFields = [:]) -> StubAnswer { .status(status, fields: fields) }

  static let unreachable = StubAnswer.failure(TransportError(.connectionFailed, requestState: .notSent))
  static let lost = StubAnswer.failure(TransportError(.broken, requestState: .maybeSent))
}
