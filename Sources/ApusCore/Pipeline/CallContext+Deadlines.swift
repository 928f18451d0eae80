/// When a call, or one attempt of it, is over: instants of the client's clock, which everything that waits obeys.
extension CallContext {
  /// The nearer one of ``deadline`` and ``attemptDeadline``: when it makes no sense any more to wait ahead of an
  /// exchange. `nil`: no limit.
  public var nearestDeadline: MonotonicInstant? { attemptDeadline ?? deadline }

  /// Whether the time of the present attempt is up.
  public var isAttemptOver: Bool { attemptDeadline.map { $0 <= now } ?? false }

  /// Ends the call with a timeout once the clock reaches `instant`, unless it has ended before.
  ///
  /// An earlier deadline stays in force. The deadline covers everything: waiting, exchanges, content.
  public mutating func limit(to instant: MonotonicInstant) {
    if let deadline, deadline <= instant { return }
    deadline = instant
    if let attemptDeadline, attemptDeadline >= instant { self.attemptDeadline = nil }
    call.setDeadline(instant)
  }

  /// Has whatever works for the present attempt give up at `instant`, unless the head of the answer is there by then.
  ///
  /// An attempt runs in the task of its call and cannot be cancelled apart from it, so this cancels nothing: it is said
  /// in ``attemptDeadline``, and transports and all that waits ahead of them throw
  /// ``TransportError/attemptTimedOut(in:requestState:)`` by themselves. So the call may try again. It counts for every
  /// redirect of the attempt, and says nothing of content. An earlier limit stays in force, and so does an earlier
  /// ``deadline``, which ends the call.
  public mutating func limitAttempt(to instant: MonotonicInstant) {
    if let nearest = nearestDeadline, nearest <= instant { return }
    attemptDeadline = instant
  }

  /// Has `target` told once the time of the present attempt is up, by the client's clock.
  ///
  /// For transports and middlewares that wait for something that knows no time. It costs no task; `target` is held
  /// until it is told or the alarm is taken back, which whoever sets it does when it need not wait any longer. A time
  /// that is up already is told at once, from another thread.
  ///
  /// - Returns: `nil` where the attempt has no limit of its own: nobody is told then.
  public func alarm(for target: any DeadlineTarget) -> DeadlineAlarm? {
    guard let attemptDeadline else { return nil }
    let timer = call.client.timer
    return DeadlineAlarm(timer, timer.schedule(target, at: attemptDeadline))
  }

  /// Does work whose calls, whatever clients make them, end at the ``nearestDeadline`` of this one at the latest.
  ///
  /// For a middleware that makes calls with a client of its own; those of ``client`` do so anyway.
  ///
  /// - Returns: what `work` returns.
  /// - Throws: what `work` throws.
  public func passingDeadline<Output, Failure: Error>(
    to work: () async throws(Failure) -> Output
  ) async throws(Failure) -> Output {
    guard let nearestDeadline else { return try await work() }
    return try await DeadlineScope.perform(until: Deadline(nearestDeadline, on: clock), work).get()
  }
}
