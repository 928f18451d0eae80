import Apus

/// What calls meet on their way through the whole pipeline.
enum Trouble: String, CaseIterable, Sendable {
  /// A token that is no good any more, a 503, the pace limit, a redirect, content in pieces.
  case everything
  /// The same, read as it comes.
  case streamed
  /// A server that says nothing to the first attempt.
  case silent
  /// A tag that is held.
  case held
  /// Others, where one runs at a time.
  case behind
  /// A circuit that lets one through to see.
  case halfOpen
  /// One refresh that all wait for.
  case refreshing
  /// One exchange that all share, tried twice: by their id, or since they ask for the same.
  case joined, coalesced
  /// No network at first.
  case offline

  /// How many calls there are.
  var calls: Int {
    switch self {
    case .everything, .streamed, .silent: 1
    case .held, .halfOpen, .offline: 2
    case .behind, .refreshing, .joined, .coalesced: 3
    }
  }

  var limits: SchedulingLimits { SchedulingLimits(total: self == .behind ? 1 : 3, perOrigin: 3) }

  /// One a second where calls are to wait for it.
  var rate: RateLimit {
    switch self {
    case .everything, .streamed, .behind: .perSecond(1)
    default: .perSecond(100)
    }
  }

  var breaker: BreakerPolicy {
    guard self == .halfOpen else { return .interactive }
    var policy = BreakerPolicy(consecutive: 1)
    // A slot that a call has kept would be free again after so long only.
    policy.longestOpening = .seconds(600)
    return policy
  }

  /// The first call with the right token is the one that fails.
  var server: TroubledServer {
    switch self {
    case .halfOpen: TroubledServer()
    case .silent: TroubledServer(.silent, for: 1)
    default: TroubledServer(.failing, for: 1)
    }
  }

  /// How long an attempt may take.
  var attemptTimeout: Duration { self == .silent ? .seconds(2) : .seconds(10) }

  /// What must have been met where nobody disturbs the calls: else they were no trouble.
  var met: Set<String> {
    switch self {
    case .everything, .streamed:
      ["awaits credentials", "attempt failed", "queued: rate limit", "redirected"]
    case .silent: ["attempt failed", "redirected"]
    case .held: ["queued: held by the app", "redirected"]
    case .behind: ["queued: global concurrency limit, 1", "attempt failed", "queued: rate limit"]
    case .halfOpen: ["circuit lets this call through to see, attempt", "circuit is open, for ms"]
    case .refreshing: ["awaits credentials"]
    case .joined, .coalesced: ["joined", "attempt failed"]
    case .offline: ["waits for a network, calls that wait"]
    }
  }

  /// Fewer jobs than this are no way through the whole pipeline.
  var leastJobs: Int { calls == 1 ? 15 : 20 }

  /// What can happen to the calls. One call alone is the first, too.
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
    case .joined: return request.id("one", whenRunning: .join)
    case .coalesced: return request.coalesced()
    case .held: return number == 1 ? request.tag(PipelineParts.heldTag) : request
    default: return request
    }
  }

  /// Makes a call, and counts the bytes of its answer.
  func call(_ number: Int, by api: Client) async -> Ledger.Outcome {
    let request = self.request(number)
    do throws(CallError) {
      guard self == .streamed else { return .success(try await api.send(request).utf8.count) }
      return .success(try await api.withResponse(to: request) { try await $0.collect().count })
    } catch {
      return .failure(error)
    }
  }
}

/// What happens to calls on their way.
enum Disturbance: CaseIterable, Sendable {
  case cancelCalls, cancelTasks, cancelFirst, signOut, passDeadline, hold

  /// Whether a call may end with an error for it.
  func allows(_ error: CallError) -> Bool {
    switch self {
    case .cancelCalls, .cancelTasks, .cancelFirst: error.isCancellation
    // Who sees that its turn comes too late, or that there is no time to try again, does not wait for the end.
    case .passDeadline: error.code == .timeout || error.code == .declined || error.status == 503
    case .signOut: error.status == 401 || error.underlying is PrincipalChanged
    case .hold: false
    }
  }
}
