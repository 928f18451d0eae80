import ApusCore

@testable import ApusMiddleware

/// A model of callers, a store, a server and a refresh around a ``RefreshState``. The steps of the model can be
/// performed in any order, and their results are recorded.
struct RefreshWorld: Hashable {
  /// The server's response to a refresh.
  enum Reply: Hashable, CaseIterable {
    case tokens, rejection, failure
  }

  /// The content of the store.
  struct Stored: Hashable {
    var generation: UInt64 = 1
    /// The server rejects the first token.
    var token: Int? = 1
    var principal = 0
  }

  enum Stage: Hashable {
    case idle
    /// The caller has read the store, and begins with the credentials of this principal.
    case read(Stored, principal: Int)
    case waiting(principal: Int)
    /// The message is on its way to the server.
    case sent(Stored, isResent: Bool)
    /// The rejection is on its way to the caller.
    case rejected(Stored, isResent: Bool)
    /// The caller has read the current generation after the rejection.
    case readAfterRejection(Stored, current: UInt64)
    case waitingAfterRejection(Stored)
    case done(Outcome)
  }

  enum Outcome: Hashable {
    case accepted, rejected, failed, cancelled
    /// Not sent, because the principal has changed.
    case refused
  }

  /// A refresh: checks the generation, requests tokens, stores them, resumes the waiters.
  enum Work: Hashable {
    case checking
    case requesting
    case storing(Int)
    case failing(RefreshState.Failure)
    /// `nil` if the credentials were replaced.
    case ending(RefreshState.Failure?)
  }

  enum Step: Hashable {
    case caller(Int)
    case flight(RefreshState.Flight)
    case cancel(Int)
    case signOut
    /// The refresher is notified after the store was set or cleared.
    case notify(UInt64)
    case signIn
    case timeOut(RefreshState.Flight)
  }

  /// The other events that may happen, once each.
  struct Disturbances: Hashable {
    var cancels: Int?
    var signsOut = false
    var signsIn = false
    var timesOut = false
  }

  var state = RefreshState()
  var callers: [Stage]
  var flights: [RefreshState.Flight: Work] = [:]
  var stored = Stored()
  /// The tokens that the server accepts.
  var accepted: Set<Int> = []
  var nextToken = 2
  let reply: Reply
  var disturbances: Disturbances
  /// The generation that the refresher has not been notified of.
  var notification: UInt64?
  /// The generations whose refresh was requested from the server.
  var requested: [UInt64] = []
  var rotated: Int?
  var ends = 0
  var wasReplaced = false
  var isSignedOut = false
  /// Whether the first token is known to have expired before a message is sent.
  let knowsExpiry: Bool

  init(
    callers count: Int, reply: Reply, _ disturbances: Disturbances = Disturbances(), knowsExpiry: Bool = false
  ) {
    callers = Array(repeating: .idle, count: count)
    self.reply = reply
    self.disturbances = disturbances
    self.knowsExpiry = knowsExpiry
  }

  private var now: MonotonicInstant { MonotonicInstant(sinceStart: .zero) }

  /// The possible next steps.
  var steps: [Step] {
    var steps: [Step] = callers.indices.filter { index in
      switch callers[index] {
      case .idle, .read, .sent, .rejected, .readAfterRejection: true
      case .waiting, .waitingAfterRejection, .done: false
      }
    }.map { .caller($0) }
    steps += flights.keys.map { .flight($0) }
    if let index = disturbances.cancels, !isDone(index) { steps.append(.cancel(index)) }
    if disturbances.signsOut { steps.append(.signOut) }
    if let notification { steps.append(.notify(notification)) }
    if disturbances.signsIn { steps.append(.signIn) }
    if disturbances.timesOut { steps += flights.keys.map { .timeOut($0) } }
    return steps
  }

  func isDone(_ index: Int) -> Bool {
    if case .done = callers[index] { return true }
    return false
  }

  mutating func perform(_ step: Step) {
    switch step {
    case .caller(let index): advance(index)
    case .flight(let flight): advance(flight)
    case .cancel(let index):
      disturbances.cancels = nil
      state.left(UInt64(index))
      callers[index] = .done(.cancelled)
    case .signOut:
      disturbances.signsOut = false
      replace(by: nil)
      isSignedOut = true
      notification = stored.generation
    case .notify(let generation):
      notification = nil
      resume(state.replaced(by: generation), isFailed: false)
    case .signIn:
      disturbances.signsIn = false
      replace(by: nextToken)
      accepted.insert(nextToken)
      nextToken += 1
      isSignedOut = false
      notification = stored.generation
    case .timeOut(let flight):
      disturbances.timesOut = false
      resume(state.overdue(flight), isFailed: true)
    }
  }

  private mutating func replace(by token: Int?) {
    wasReplaced = true
    stored = Stored(generation: stored.generation + 1, token: token, principal: stored.principal + 1)
  }

  // MARK: A caller

  private mutating func advance(_ index: Int) {
    switch callers[index] {
    case .idle: callers[index] = .read(stored, principal: stored.principal)
    case .read(let read, let principal): decide(index, read, principal)
    case .sent(let read, let isResent):
      let isAccepted = read.token.map { accepted.contains($0) } ?? false
      callers[index] = isAccepted ? .done(.accepted) : .rejected(read, isResent: isResent)
    case .rejected(let read, let isResent):
      if isResent { state.rejectedAfterRefresh(read.generation, current: stored.generation, now: now) }
      callers[index] =
        isResent || read.token == nil
        ? .done(.rejected) : .readAfterRejection(read, current: stored.generation)
    case .readAfterRejection(let read, let current): decide(index, rejected: read, current)
    case .waiting, .waitingAfterRejection, .done: break
    }
  }

  private mutating func decide(_ index: Int, _ read: Stored, _ principal: Int) {
    guard read.token == nil || read.principal == principal else {
      callers[index] = .done(.refused)
      return
    }
    guard read.token != nil else {
      callers[index] = .sent(read, isResent: false)
      return
    }
    let freshness: RefreshState.Freshness = knowsExpiry && read.token == 1 ? .expired : .fresh
    switch state.prepare(read.generation, freshness, waiter: UInt64(index), now: now) {
    case .send: callers[index] = .sent(read, isResent: false)
    case .sendAndRefresh(let flight):
      flights[flight] = .checking
      callers[index] = .sent(read, isResent: false)
    case .wait: callers[index] = .waiting(principal: principal)
    case .startRefresh(let flight):
      flights[flight] = .checking
      callers[index] = .waiting(principal: principal)
    case .waitForCoolDown, .fail: callers[index] = .done(.failed)
    }
  }

  private mutating func decide(_ index: Int, rejected read: Stored, _ current: UInt64) {
    switch state.rejected(read.generation, current: current, waiter: UInt64(index), now: now) {
    case .send, .sendAndRefresh: resend(index, after: read)
    case .wait: callers[index] = .waitingAfterRejection(read)
    case .startRefresh(let flight):
      flights[flight] = .checking
      callers[index] = .waitingAfterRejection(read)
    case .waitForCoolDown, .fail: callers[index] = .done(.failed)
    }
  }

  private mutating func resend(_ index: Int, after read: Stored) {
    guard stored.token != nil, stored.generation != read.generation, stored.principal == read.principal else {
      callers[index] = .done(.rejected)
      return
    }
    callers[index] = .sent(stored, isResent: true)
  }

  private mutating func resume(_ waiters: Set<RefreshState.Waiter>, isFailed: Bool) {
    for waiter in waiters {
      let index = Int(waiter)
      switch (callers[index], isFailed) {
      case (.waiting(let principal), false): callers[index] = .read(stored, principal: principal)
      case (.waitingAfterRejection(let read), false): resend(index, after: read)
      case (.waiting, true), (.waitingAfterRejection, true): callers[index] = .done(.failed)
      default: break
      }
    }
  }

  // MARK: A refresh

  private mutating func advance(_ flight: RefreshState.Flight) {
    switch flights[flight] {
    case .checking: flights[flight] = stored.generation == flight.generation ? .requesting : .ending(nil)
    case .requesting:
      requested.append(flight.generation)
      switch reply {
      case .tokens:
        accepted.insert(nextToken)
        rotated = nextToken
        flights[flight] = .storing(nextToken)
        nextToken += 1
      case .rejection: flights[flight] = .failing(.permanent)
      case .failure: flights[flight] = .failing(.temporary)
      }
    case .storing(let new):
      if stored.generation == flight.generation {
        (stored.generation, stored.token) = (stored.generation + 1, new)
      }
      flights[flight] = .ending(nil)
    case .failing(let failure):
      guard stored.generation == flight.generation else {
        flights[flight] = .ending(nil)
        return
      }
      if failure == .permanent {
        stored = Stored(generation: stored.generation + 1, token: nil, principal: stored.principal + 1)
        ends += 1
      }
      flights[flight] = .ending(failure)
    case .ending(let failure):
      flights[flight] = nil
      if let failure {
        resume(state.failed(flight, failure, now: now), isFailed: true)
      } else {
        resume(state.succeeded(flight), isFailed: false)
      }
    case nil: break
    }
  }
}

extension RefreshState {
  /// The calls that wait.
  var waiters: Set<Waiter> {
    // The latest credentials resume all waiters.
    var copy = self
    return copy.replaced(by: .max)
  }
}
