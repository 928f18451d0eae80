import ApusCore
import ApusMiddleware
import ApusTesting
import HTTPTypes
import TestSupport
import Testing

/// A client whose calls can wait at every point of the pipeline, and an account that changes while they wait.
final class BoundBench: Sendable {
  /// The reason why a call waits.
  enum Wait: String, CaseIterable {
    case queue, pausedTag, backoff, rateLimit, network, refresh, redirect, coalesced, challenge, customMiddleware

    /// The messages that were sent before the wait, and the request state of a call that is not sent afterwards.
    var sentBefore: (authorizations: [String?], state: RequestState) {
      switch self {
      case .backoff, .redirect: (["Bearer one"], .maybeSent)
      case .refresh: (["Bearer one"], .responded)
      case .challenge: ([nil], .responded)
      case .queue, .pausedTag, .rateLimit, .network, .coalesced, .customMiddleware: ([], .notSent)
      }
    }
  }

  /// The change of the account during the wait.
  enum Change: String, CaseIterable {
    case signOut, otherSignIn, refresh, sameAccount

    var keepsPrincipal: Bool { self == .refresh || self == .sameAccount }
  }

  let stub = StubTransport()
  let clock = ManualClock(.manual)
  let tokens: MemoryCredentialsStore
  let events = Log<SessionEnd>()
  let wait: Wait
  let gate = Gate()
  private let scheduler: Scheduler
  private let connectivity = Connectivity()
  private let images = Tag("images")

  init(_ wait: Wait, isSignedIn: Bool = true) {
    self.wait = wait
    tokens = MemoryCredentialsStore(clock: clock)
    if isSignedIn { tokens.set(.tokens(Tokens(access: "one", refresh: "r")), account: "ada") }
    scheduler = Scheduler(ConcurrencyLimits(global: wait == .queue ? 1 : 64))
    let handler: StubTransport.Handler = { [self] exchange in await reply(to: exchange) }
    stub.on(where: { _, _ in true }, reply: handler)
  }

  private func reply(to exchange: StubExchange) async -> StubReply {
    var fields = HTTPFields()
    switch wait {
    case .queue where exchange.target == "/v1/block": return StubReply.status(204).waiting(for: gate)
    case .backoff where sent.count == 1: return .status(503)
    case .refresh where exchange.fields[.authorization] == "Bearer one": return .status(401)
    case .redirect where sent.count == 1:
      fields[.location] = "/v1/ping2"
      return StubReply.status(307, fields: fields).waiting(for: gate)
    case .challenge where exchange.fields[.authorization] == nil && sent.count == 1:
      fields[.wwwAuthenticate] = #"Bearer realm="staff""#
      return StubReply.status(401, fields: fields).waiting(for: gate)
    default: return .text("ok")
    }
  }

  /// The exchanges of the call under test.
  private var sent: [StubExchange] { stub.exchanges.filter { $0.target.contains("ping") } }
  var authorizations: [String?] { sent.map { $0.fields[.authorization] } }

  func client(_ customize: @escaping (inout Pipeline) -> Void = { _ in }) -> Client {
    var client = TestClient()
    client.environment.authentication = authentication
    client.settings.runtime = Runtime(clock: clock)
    client.onSessionEnd = events.add
    client.customize = { [self] in
      $0.insert(RetryMiddleware(.app), .after(.retry))
      if wait == .customMiddleware { $0.insert(Hold(gate: gate), .before(.retry)) }
      $0.insert(ConnectivityMiddleware(connectivity, .wait), .before(.scheduling))
      $0.insert(SchedulingMiddleware(scheduler), .after(.scheduling))
      if wait == .rateLimit { $0.insert(RateLimiter(.perSecond(1)), .after(.rateLimit)) }
      $0.insert(RedirectMiddleware(), .after(.redirects))
      customize(&$0)
    }
    return client.over(stub)
  }

  private var authentication: Authentication {
    guard wait == .refresh else { return .bearer(tokens, realm: wait == .challenge ? "staff" : nil) }
    return .bearer(tokens) { [gate] _ in
      try await gate.wait()
      return Tokens(access: "two")
    }
  }

  /// Starts calls, and returns when they wait.
  func start(_ api: Client) async throws -> [Task<Result<String, CallError>, Never>] {
    var request = Request<String>.get("/ping").tag(images)
    var blocker: Task<Void, any Error>?
    switch wait {
    case .queue:
      blocker = Task { try await api.send(Request<Void>.get("/block").credentials(.none)) }
      try await stub.waitForExchanges(1)
    case .pausedTag: scheduler.pause(images)
    case .coalesced:
      scheduler.pause(images)
      request = request.coalesced()
    case .rateLimit: _ = try await api.send(Request<String>.get("/paced").credentials(.none))
    case .network: connectivity.report(.offline)
    case .backoff, .refresh, .redirect, .challenge, .customMiddleware: break
    }
    let calls = (0..<(wait == .coalesced ? 2 : 1)).map { [request] _ in
      Task { () async -> Result<String, CallError> in
        do throws(CallError) { return .success(try await api.send(request)) } catch { return .failure(error) }
      }
    }
    try await waitUntilWaiting(api)
    _ = blocker
    return calls
  }

  private func waitUntilWaiting(_ api: Client) async throws {
    switch wait {
    case .queue, .pausedTag: try await scheduler.waitForWaiting(1)
    case .coalesced:
      try await scheduler.waitForWaiting(1)
      try await waitWhile(!api.calls.all.contains(where: \.hasJoined))
    case .backoff, .rateLimit: try await clock.waitForSleepers(1)
    case .network: try await waitWhile(connectivity.waitingCount == 0)
    case .refresh, .redirect, .challenge, .customMiddleware: try await gate.waitForArrivals(1)
    }
  }

  func perform(_ change: Change) {
    let new = Credential.tokens(Tokens(access: "two", refresh: "r"))
    switch change {
    case .signOut: tokens.clear()
    case .otherSignIn:
      tokens.clear()
      tokens.set(new, account: "bob")
    // If the call waits for the refresh, the refresh itself replaces the token.
    case .refresh: if wait != .refresh { _ = tokens.refresh(tokens.current().generation, to: new) }
    case .sameAccount: tokens.set(new, account: "ada")
    }
  }

  /// Ends the wait.
  func endWait() {
    switch wait {
    case .queue, .refresh, .redirect, .challenge, .customMiddleware: gate.open()
    case .pausedTag, .coalesced: scheduler.resume(images)
    case .backoff, .rateLimit: clock.advance(by: .seconds(2))
    case .network: connectivity.report(.online)
    }
  }
}
