import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import Testing

/// Calls with retries over a stub transport and a virtual clock.
struct RetryBench: Sendable {
  let stub = StubTransport()
  let clock = ManualClock(.manual)

  /// Returns a client whose random numbers are always one half.
  func client(
    _ policy: RetryPolicy = .app, budget: RetryBudget = .default, timeout: Duration? = nil,
    customize: @escaping (inout Pipeline) -> Void = { _ in }
  ) -> Client {
    var client = TestClient()
    client.settings.runtime.clock = clock
    client.settings.runtime.random = { 0x8000_0000_0000_0000 }
    client.timeout = timeout
    client.customize = {
      $0.insert(RetryMiddleware(policy, budget: budget), .after(.retry))
      customize(&$0)
    }
    return client.over(stub)
  }

  /// Responds to pings with one response after the other.
  func answer(_ answers: StubReply...) {
    for method in [HTTPRequest.Method.get, .put, .post] { stub.on(method, "/v1/ping", replies: answers) }
  }

  /// Performs a call, advances the time for its delays, and returns its error. Use it only with clients without a
  /// deadline.
  func outcome(of request: Request<Void> = .ping, _ api: Client) async -> CallError? {
    let ended = Gate()
    let call = Task {
      let error = await failure { try await api.send(request) }
      ended.open()
      return error
    }
    let limit = ContinuousClock.now + .seconds(180)
    while !ended.isOpen, ContinuousClock.now < limit {
      if !clock.advanceToNextWake() { await Task.yield() }
    }
    call.cancel()
    return await call.value
  }
}

extension StubReply {
  /// Returns a reply of a busy server.
  static func busy(_ status: Int = 503, fields: HTTPFields = [:]) -> StubReply { .status(status, fields: fields) }

  static let unreachable = StubReply.failure(TransportError(.connectionFailed, requestState: .notSent))
  static let lost = StubReply.failure(TransportError(.connectionLost, requestState: .maybeSent))
}
