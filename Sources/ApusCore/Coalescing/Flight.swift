import Synchronization

/// One exchange that several calls may wait for. It runs in a task of its own, which is cancelled with the last of them.
final class Flight: Sendable {
  typealias Waiter = CheckedContinuation<ResponseMessage, any Error>

  /// The call that started the exchange.
  let leader: Call
  let sharers = Sharers()
  private let state: Mutex<FlightState<Waiter>>
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// Makes a flight whose only call is the one that starts it.
  init(by leader: Call, on terms: FlightTerms) {
    self.leader = leader
    var state = FlightState<Waiter>(terms: terms)
    _ = state.expect(leader.serial)
    self.state = Mutex(state)
  }

  /// Lets another call join. Returns `false` if it is too late for that.
  func expect(_ serial: UInt64) -> Bool {
    // The response is known to the first call, also once that has ended.
    let progress = leader.snapshot(\.answerProgress)
    return state.withLock { state in
      guard state.expect(serial, at: progress) else { return false }
      // From now on the end of the first call does not end the exchange.
      leader.shareExchange()
      return true
    }
  }

  /// Adds a call that has joined to those that the exchange works for.
  func join(_ context: CallContext) {
    if context.base !== leader { context.base.follow(leader) }
    let member = Sharers.Member(values: context.values, taskPriority: Task.currentPriority)
    sharers.join(member, serial: context.base.serial)
  }

  /// Keeps the task to cancel when no call is left. The call that starts it does not wait yet, so there is one.
  func keep(_ task: Task<Void, Never>) {
    self.task.withLock { $0 = task }
  }

  /// Ends the exchange with its result, which all waiting calls get.
  func complete(_ result: Result<ResponseMessage, any Error>) {
    for waiter in state.withLock({ $0.complete(result) }) { waiter.resume(with: result) }
  }

  /// Waits for the result.
  ///
  /// - Throws: what the exchange threw; `CancellationError` when the call is cancelled.
  func wait(_ serial: UInt64) async throws -> ResponseMessage {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        let joining = state.withLock { $0.wait(waiter, id: serial) }
        if case .resume(let waiter, let result) = joining { waiter.resume(with: result) }
      }
    } onCancel: {
      leave(serial)
    }
  }

  private func leave(_ serial: UInt64) {
    let (waiter, isAbandoned) = state.withLock { $0.leave(serial) }
    sharers.leave(serial)
    if isAbandoned { task.withLock { $0 }?.cancel() }
    waiter?.resume(throwing: CancellationError())
  }
}

/// One exchange that several calls wait for: a pure state machine that returns the waiters to resume.
///
/// It ends with its result, or when the last waiter has left. A waiter that leaves changes nothing for the others.
struct FlightState<Waiter: Sendable>: Sendable {
  enum Joining: Sendable {
    case waits
    case resume(Waiter, with: Result<ResponseMessage, any Error>)
  }

  private let terms: FlightTerms
  private var waiters: [UInt64: Waiter] = [:]
  private var expected: Set<UInt64> = []
  private var left: Set<UInt64> = []
  private var result: Result<ResponseMessage, any Error>?
  private var isAbandoned = false

  init(terms: FlightTerms = .named) {
    self.terms = terms
  }

  /// Adds a call. Returns `false` if the flight is over, is being cancelled because all calls have left, or has come too far
  /// for another call to join.
  mutating func expect(_ id: UInt64, at progress: AnswerProgress = AnswerProgress()) -> Bool {
    guard result == nil, !isAbandoned, terms.admit(at: progress) else { return false }
    expected.insert(id)
    return true
  }

  /// The call begins to wait.
  mutating func wait(_ waiter: Waiter, id: UInt64) -> Joining {
    if left.remove(id) != nil { return .resume(waiter, with: .failure(CancellationError())) }
    if let result { return .resume(waiter, with: result) }
    waiters[id] = waiter
    return .waits
  }

  /// Removes a call that was cancelled. Returns its waiter, and whether no call is left.
  mutating func leave(_ id: UInt64) -> (waiter: Waiter?, isAbandoned: Bool) {
    guard expected.remove(id) != nil else { return (nil, false) }
    let waiter = waiters.removeValue(forKey: id)
    if waiter == nil { left.insert(id) }
    // The exchange is being cancelled: calls that come now start another.
    isAbandoned = expected.isEmpty && result == nil
    return (waiter, isAbandoned)
  }

  /// Ends the exchange. Returns the waiters to resume.
  mutating func complete(_ result: Result<ResponseMessage, any Error>) -> [Waiter] {
    guard self.result == nil else { return [] }
    self.result = result
    defer { waiters = [:] }
    // Ordered, so that runs can be replayed.
    return waiters.sorted { $0.key < $1.key }.map(\.value)
  }
}
