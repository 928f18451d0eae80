import Synchronization

/// An exchange that several calls may wait for. It runs in a separate task, which is cancelled when the last call
/// leaves.
final class Flight: Sendable {
  typealias Waiter = CheckedContinuation<ResponseMessage, any Error>

  /// The call that started the exchange.
  let leader: Call
  let sharers = Sharers()
  private let state: Mutex<FlightState<Waiter>>
  private let task = Mutex<Task<Void, Never>?>(nil)

  /// Creates a flight whose only call is its leader.
  init(by leader: Call, on terms: FlightTerms) {
    self.leader = leader
    var state = FlightState<Waiter>(terms: terms)
    _ = state.expect(leader.serial)
    self.state = Mutex(state)
  }

  /// Adds another call. Returns `false` if it is too late to join.
  func expect(_ serial: UInt64) -> Bool {
    // The leader's record has the progress of the response, even after the leader has ended.
    let progress = leader.snapshot(\.responseProgress)
    return state.withLock { state in
      guard state.expect(serial, at: progress) else { return false }
      // From now on the end of the leader does not end the exchange.
      leader.shareExchange()
      return true
    }
  }

  /// Adds a call that has joined to the sharers.
  func join(_ context: CallContext) {
    if context.owner !== leader { context.owner.follow(leader) }
    let member = Sharers.Member(values: context.values, taskPriority: Task.currentPriority)
    sharers.join(member, serial: context.owner.serial)
  }

  /// Stores the task of the exchange, which is cancelled when no call is left. The leader cannot have left already,
  /// because it is not waiting yet.
  func keep(_ task: Task<Void, Never>) {
    self.task.withLock { $0 = task }
  }

  /// Ends the exchange and resumes all waiting calls with its result.
  func complete(_ result: Result<ResponseMessage, any Error>) {
    for waiter in state.withLock({ $0.complete(result) }) { waiter.resume(with: result) }
  }

  /// Waits for the result.
  ///
  /// - Throws: the error of the exchange; `CancellationError` when the call is cancelled.
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

/// The state of an exchange that several calls wait for. A pure state machine that returns the waiters to resume.
///
/// The exchange ends with its result, or when the last waiter leaves. A waiter that leaves does not affect the other
/// waiters.
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

  /// Adds a call. Returns `false` if the flight is over, is being cancelled because all calls have left, or has
  /// progressed too far for another call to join.
  mutating func expect(_ id: UInt64, at progress: ResponseProgress = ResponseProgress()) -> Bool {
    guard result == nil, !isAbandoned, terms.admit(at: progress) else { return false }
    expected.insert(id)
    return true
  }

  /// Adds the waiter of a call. Returns the result for the waiter, if it is already known.
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
    // The exchange is then cancelled, and new calls start another exchange.
    isAbandoned = expected.isEmpty && result == nil
    return (waiter, isAbandoned)
  }

  /// Ends the exchange. Returns the waiters to resume.
  mutating func complete(_ result: Result<ResponseMessage, any Error>) -> [Waiter] {
    guard self.result == nil else { return [] }
    self.result = result
    defer { waiters = [:] }
    // Sorted, so that runs can be replayed.
    return waiters.sorted { $0.key < $1.key }.map(\.value)
  }
}
