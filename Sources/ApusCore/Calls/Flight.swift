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
    if context.call !== leader { context.call.follow(leader) }
    let member = Sharers.Member(values: context.values, taskPriority: Task.currentPriority)
    sharers.join(member, serial: context.call.serial)
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
