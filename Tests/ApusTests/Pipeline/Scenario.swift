import Apus

/// The conditions that calls meet in the whole pipeline.
enum Scenario: String, CaseIterable, Sendable {
  /// An expired token, a 503, the rate limit, a redirect, content in pieces.
  case everything
  /// The conditions of ``everything``, with a streamed response.
  case streamed
  /// A server that does not respond to the first attempt.
  case silent
  /// A paused tag.
  case held
  /// Other calls, with a concurrency limit of one.
  case behind
  /// A half-open circuit that admits a trial call.
  case halfOpen
  /// A refresh for which all calls wait.
  case refreshing
  /// A shared exchange that is retried: joined by id, or coalesced.
  case joined, coalesced
  /// No network at the beginning.
  case offline

  /// The number of calls.
  var calls: Int {
    switch self {
    case .everything, .streamed, .silent: 1
    case .held, .halfOpen, .offline: 2
    case .behind, .refreshing, .joined, .coalesced: 3
    }
  }

  var limits: ConcurrencyLimits { ConcurrencyLimits(global: self == .behind ? 1 : 3, perOrigin: 3) }

  /// The rate limit, which is one exchange per second in scenarios in which calls should wait for the limit.
  var rate: RateLimit {
    switch self {
    case .everything, .streamed, .behind: .perSecond(1)
    default: .perSecond(100)
    }
  }

  var breaker: BreakerPolicy {
    guard self == .halfOpen else { return .app }
    var policy = BreakerPolicy(consecutiveFailures: 1)
    // A long duration, so that a trial slot that is not released blocks later calls.
    policy.maximumOpenDuration = .seconds(600)
    return policy
  }

  /// The server. In most scenarios, the first exchange with a valid token fails.
  var server: ScenarioServer {
    switch self {
    case .halfOpen: ScenarioServer()
    case .silent: ScenarioServer(.silent, for: 1)
    default: ScenarioServer(.failing, for: 1)
    }
  }

  /// The timeout of an attempt.
  var attemptTimeout: Duration { self == .silent ? .seconds(2) : .seconds(10) }

  /// The events that must occur when the calls are undisturbed.
  var met: Set<String> {
    switch self {
    case .everything, .streamed:
      ["awaits credentials", "attempt failed", "queued: rate limit", "redirected"]
    case .silent: ["attempt failed", "redirected"]
    case .held: ["queued: held by the app", "redirected"]
    case .behind: ["queued: global concurrency limit, 1", "attempt failed", "queued: rate limit"]
    case .halfOpen: ["trial request of a half-open circuit, attempt", "circuit is open, for ms"]
    case .refreshing: ["awaits credentials"]
    case .joined, .coalesced: ["joined", "attempt failed"]
    case .offline: ["waits for a network, calls that wait"]
    }
  }

  /// The minimum number of jobs for a pass through the whole pipeline.
  var leastJobs: Int { calls == 1 ? 15 : 20 }

  /// The disturbances. With a single call, cancelling the first call equals cancelling all calls.
  var disturbances: [Disturbance] {
    var cancels: [Disturbance] = [.cancelCalls, .cancelTasks]
    if calls > 1 { cancels.append(.cancelFirst) }
    return switch self {
    case .everything: cancels + [.signOut, .passDeadline, .hold]
    case .streamed, .joined, .coalesced: cancels + [.passDeadline]
    case .behind, .offline: cancels + [.hold]
    case .refreshing: cancels + [.signOut]
    case .silent, .held, .halfOpen: cancels
    }
  }

  func request(_ number: Int) -> Request<String> {
    let request = Request<String>.get("/users/\(7)").timeout(.seconds(30))
    switch self {
    case .joined: return request.id("one", onDuplicate: .coalesce)
    case .coalesced: return request.coalesced()
    case .held: return number == 1 ? request.tag(PipelineParts.heldTag) : request
    default: return request
    }
  }

  /// Performs a call and returns the number of content bytes.
  func call(_ number: Int, by api: Client) async -> Ledger.Outcome {
    let request = self.request(number)
    do throws(CallError) {
      guard self == .streamed else { return .success(try await api.send(request).utf8.count) }
      return .success(
        try await api.withResponse(to: request) { response in
          var count = 0
          while let piece = try await response.next() { count += piece.count }
          return count
        })
    } catch {
      return .failure(error)
    }
  }
}

/// A disturbance of calls in the pipeline.
enum Disturbance: CaseIterable, Sendable {
  case cancelCalls, cancelTasks, cancelFirst, signOut, passDeadline, hold

  /// Whether a call may end with the error because of the disturbance.
  func allows(_ error: CallError) -> Bool {
    switch self {
    case .cancelCalls, .cancelTasks, .cancelFirst: error.isCancellation
    // A call that cannot be admitted or retried before its deadline fails early.
    case .passDeadline: error.code == .timeout || error.code == .refused || error.status == 503
    case .signOut: error.status == 401 || error.underlying is PrincipalChangedError
    case .hold: false
    }
  }
}
