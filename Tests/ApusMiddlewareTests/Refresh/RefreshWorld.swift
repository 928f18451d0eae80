import ApusCore

@testable import ApusMiddleware

/// Callers, a source of credentials, a server and a refresh as steps that can come in any order: everything that the
/// shell around a ``RefreshState`` does, one step at a time, and the books of what came of it.
struct RefreshWorld: Hashable {
  /// How the server answers a refresh.
  enum Answer: Hashable, CaseIterable {
    case tokens, refusal, failure
  }

  /// What the source has at one moment.
  struct Stored: Hashable {
    var generation: UInt64 = 1
    /// The first is one that the server takes no more.
    var token: Int? = 1
    var principal = 0
  }

  enum Stage: Hashable {
    case idle
    /// It has read the source, and not yet decided; whose credentials it began with.
    case read(Stored, principal: Int)
    case waiting(principal: Int)
    /// Its message is on the way.
    case out(Stored, isAgain: Bool)
    /// The server refused it, and the answer is on the way.
    case rejected(Stored, isAgain: Bool)
    /// It has read the source after that; only the generation counts.
    case refusedRead(Stored, current: UInt64)
    case waitingRefused(Stored)
    case done(Outcome)
  }

  enum Outcome: Hashable {
    case answered, refused, failed, cancelled, declined
  }

  /// A refresh: checks that it is needed, asks the server, stores the tokens, resumes the waiters.
  enum Work: Hashable {
    case checking
    case asking
    case storing(Int)
    case failing(RefreshState.Failure)
    case ending(RefreshState.End)
  }

  enum Step: Hashable {
    case caller(Int)
    case flight(RefreshState.Flight)
    case cancel(Int)
    case signOut
    /// The refresher is notified after the store was set or cleared.
    case signedOut(UInt64)
    case signIn
    case timeOut(RefreshState.Flight)
  }

  /// What may happen beside, once each.
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
  // The server.
  var accepted: Set<Int> = []
  var nextToken = 2
  let answer: Answer
  var disturbances: Disturbances
  var isTelling: UInt64?
  // Books.
  var asked: [UInt64] = []
  var rotated: Int?
  var ends = 0
  var wasReplaced = false
  var isSignedOut = false
  /// Whether the source's credentials are known to have ended before anything is sent.
  let knowsExpiry: Bool

  init(
    callers count: Int, answer: Answer, _ disturbances: Disturbances = Disturbances(), knowsExpiry: Bool = false
  ) {
    callers = Array(repeating: .idle, count: count)
    self.answer = answer
    self.disturbances = disturbances
    self.knowsExpiry = knowsExpiry
  }

  private var now: MonotonicInstant { MonotonicInstant(sinceStart: .zero) }

  /// What can happen next.
  var steps: [Step] {
    var steps: [Step] = callers.indices.filter { index in
      switch callers[index] {
      case .idle, .read, .out, .rejected, .refusedRead: true
      case .waiting, .waitingRefused, .done: false
      }
    }.map { .caller($0) }
    steps += flights.keys.map { .flight($0) }
    if let index = disturbances.cancels, !isDone(index) { steps.append(.cancel(index)) }
    if disturbances.signsOut { steps.append(.signOut) }
    if let isTelling { steps.append(.signedOut(isTelling)) }
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
      isTelling = stored.generation
    case .signedOut(let generation):
      isTelling = nil
      tell(state.replaced(by: generation), .look)
    case .signIn:
      disturbances.signsIn = false
      replace(by: nextToken)
      accepted.insert(nextToken)
      nextToken += 1
      isSignedOut = false
      isTelling = stored.generation
    case .timeOut(let flight):
      disturbances.timesOut = false
      tell(state.overdue(flight), .failed(.passing))
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
    case .out(let read, let isAgain):
      let isTaken = read.token.map { accepted.contains($0) } ?? false
      callers[index] = isTaken ? .done(.answered) : .rejected(read, isAgain: isAgain)
    case .rejected(let read, let isAgain):
      if isAgain { state.rejectedAfterRefresh(read.generation, current: stored.generation, now: now) }
      callers[index] =
        isAgain || read.token == nil ? .done(.refused) : .refusedRead(read, current: stored.generation)
    case .refusedRead(let read, let current): decide(index, refused: read, current)
    case .waiting, .waitingRefused, .done: break
    }
  }

  private mutating func decide(_ index: Int, _ read: Stored, _ principal: Int) {
    guard read.token == nil || read.principal == principal else {
      callers[index] = .done(.declined)
      return
    }
    guard read.token != nil else {
      callers[index] = .out(read, isAgain: false)
      return
    }
    let freshness: RefreshState.Freshness = knowsExpiry && read.token == 1 ? .expired : .fresh
    switch state.needs(read.generation, freshness, waiter: UInt64(index), now: now) {
    case .go: callers[index] = .out(read, isAgain: false)
    case .goWhile(let flight):
      flights[flight] = .checking
      callers[index] = .out(read, isAgain: false)
    case .wait: callers[index] = .waiting(principal: principal)
    case .waitFor(let flight):
      flights[flight] = .checking
      callers[index] = .waiting(principal: principal)
    case .rest, .fail: callers[index] = .done(.failed)
    }
  }

  private mutating func decide(_ index: Int, refused read: Stored, _ current: UInt64) {
    switch state.rejected(read.generation, current: current, waiter: UInt64(index), now: now) {
    case .go, .goWhile: goAgain(index, after: read)
    case .wait: callers[index] = .waitingRefused(read)
    case .waitFor(let flight):
      flights[flight] = .checking
      callers[index] = .waitingRefused(read)
    case .rest, .fail: callers[index] = .done(.failed)
    }
  }

  private mutating func goAgain(_ index: Int, after read: Stored) {
    guard stored.token != nil, stored.generation != read.generation, stored.principal == read.principal else {
      callers[index] = .done(.refused)
      return
    }
    callers[index] = .out(stored, isAgain: true)
  }

  private mutating func tell(_ waiters: Set<RefreshState.Waiter>, _ outcome: RefreshState.Outcome) {
    for waiter in waiters {
      let index = Int(waiter)
      switch (callers[index], outcome) {
      case (.waiting(let principal), .look): callers[index] = .read(stored, principal: principal)
      case (.waitingRefused(let read), .look): goAgain(index, after: read)
      case (.waiting, .failed), (.waitingRefused, .failed): callers[index] = .done(.failed)
      default: break
      }
    }
  }

  // MARK: A refresh

  private mutating func advance(_ flight: RefreshState.Flight) {
    switch flights[flight] {
    case .checking: flights[flight] = stored.generation == flight.generation ? .asking : .ending(.replaced)
    case .asking:
      asked.append(flight.generation)
      switch answer {
      case .tokens:
        accepted.insert(nextToken)
        rotated = nextToken
        flights[flight] = .storing(nextToken)
        nextToken += 1
      case .refusal: flights[flight] = .failing(.lasting)
      case .failure: flights[flight] = .failing(.passing)
      }
    case .storing(let new):
      if stored.generation == flight.generation {
        (stored.generation, stored.token) = (stored.generation + 1, new)
      }
      flights[flight] = .ending(.replaced)
    case .failing(let failure):
      guard stored.generation == flight.generation else {
        flights[flight] = .ending(.replaced)
        return
      }
      if failure == .lasting {
        stored = Stored(generation: stored.generation + 1, token: nil, principal: stored.principal + 1)
        ends += 1
      }
      flights[flight] = .ending(.failed(failure))
    case .ending(let end):
      flights[flight] = nil
      let (waiters, outcome) = state.ended(flight, with: end, now: now)
      tell(waiters, outcome)
    case nil: break
    }
  }
}
