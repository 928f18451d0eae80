import Synchronization

/// One exchange that several calls may wait for. It runs in a task of its own, which ends with the last of them.
final class Flight: Sendable {
  typealias Waiter = CheckedContinuation<ResponseMessage, any Error>

  /// The call that began it.
  let leader: Call
  let sharers = Sharers()
  private let state: Mutex<FlightState<Waiter>>
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// Makes one that waits for nothing yet but the call that begins it.
  init(by leader: Call, on terms: FlightTerms) {
    self.leader = leader
    var state = FlightState<Waiter>(terms: terms)
    _ = state.expect(leader.serial)
    self.state = Mutex(state)
  }

  /// Takes another call in; `false` when it cannot join any more.
  func expect(_ serial: UInt64) -> Bool {
    // What is known of an answer is known of the first call, also once that has ended.
    let progress = leader.snapshot(\.answerProgress)
    return state.withLock { state in
      guard state.expect(serial, at: progress) else { return false }
      // From now on the end of the call that began it does not end the exchange.
      leader.shareExchange()
      return true
    }
  }

  /// Puts a call that was taken in among those for which the exchange is made.
  func join(_ context: CallContext) {
    if context.base !== leader { context.base.follow(leader) }
    let member = Sharers.Member(values: context.values, taskPriority: Task.currentPriority)
    sharers.join(member, serial: context.base.serial)
  }

  /// Keeps what to cancel when nobody is left. Whoever began it has not waited yet, so somebody is.
  func keep(_ task: Task<Void, Never>) {
    self.task.withLock { $0 = task }
  }

  /// The exchange is over.
  func complete(_ result: Result<ResponseMessage, any Error>) {
    for waiter in state.withLock({ $0.complete(result) }) { waiter.resume(with: result) }
  }

  /// Waits as one that has joined.
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

/// One exchange that several calls wait for: pure, its shell resumes the waiters that it answers.
///
/// It ends with its result, or when the last waiter has left; one waiter leaving changes nothing for others.
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

  /// A call wants in; answers `false` when the flight is over, is being cancelled since all have left it, or has come
  /// too far for another one to join.
  mutating func expect(_ id: UInt64, at progress: AnswerProgress = AnswerProgress()) -> Bool {
    guard result == nil, !isAbandoned, terms.admit(at: progress) else { return false }
    expected.insert(id)
    return true
  }

  /// The call waits now.
  mutating func wait(_ waiter: Waiter, id: UInt64) -> Joining {
    if left.remove(id) != nil { return .resume(waiter, with: .failure(CancellationError())) }
    if let result { return .resume(waiter, with: result) }
    waiters[id] = waiter
    return .waits
  }

  /// The call was cancelled. Answers its waiter, and whether nobody is left.
  mutating func leave(_ id: UInt64) -> (waiter: Waiter?, isAbandoned: Bool) {
    guard expected.remove(id) != nil else { return (nil, false) }
    let waiter = waiters.removeValue(forKey: id)
    if waiter == nil { left.insert(id) }
    // Whoever comes now starts anew: this exchange is being cancelled.
    isAbandoned = expected.isEmpty && result == nil
    return (waiter, isAbandoned)
  }

  /// The exchange is over. Answers who waits for it.
  mutating func complete(_ result: Result<ResponseMessage, any Error>) -> [Waiter] {
    guard self.result == nil else { return [] }
    self.result = result
    defer { waiters = [:] }
    // In an order, so that what follows can be repeated.
    return waiters.sorted { $0.key < $1.key }.map(\.value)
  }
}
