/// When a call, or one attempt of it, is over: instants of the client's clock, which everything that waits obeys.
extension CallContext {
  /// The instant after which the call must not go on; content obeys it too. `nil`: no such limit.
  ///
  /// The default limit of a call (``limitUntilContentMoves(_:)``) is none: when that ends the call is not known before.
  public var deadline: MonotonicInstant? { endsLater ? call.snapshot(\.limits.deadline) : end }

  /// When it makes no sense any more to wait ahead of an exchange: the nearest of ``attemptDeadline``, ``deadline`` and
  /// the end of the call's default limit, as it was when the attempt began. `nil`: no limit.
  public var nearestDeadline: MonotonicInstant? { attemptDeadline ?? end }

  /// How much time the call has left if no content moves from now on; not positive once its time is up, whichever of
  /// its limits was passed. `nil`: no limit.
  public var remaining: Duration? {
    guard let end else { return nil }
    return endsLater ? call.remaining(at: now) : now.duration(to: end)
  }

  /// ``nearestDeadline`` as it is now: content may have moved since the attempt began.
  var presentEnd: MonotonicInstant? {
    attemptDeadline ?? (endsLater ? call.snapshot { $0.limits.end(at: now) } : end)
  }

  /// Whether the time of the present attempt is up.
  public var isAttemptOver: Bool { attemptDeadline.map { $0 <= now } ?? false }

  /// Ends the call with a timeout once the clock reaches `instant`, unless it has ended before.
  ///
  /// An earlier deadline stays in force. The deadline covers everything: waiting, exchanges, content. One that is more
  /// than a hundred years away is none.
  public mutating func limit(to instant: MonotonicInstant) {
    guard startInstant.duration(to: instant) < .endless else { return }
    call.setDeadline(instant)
    // Further out the default limit may have been set: the nearer one counts for what waits.
    if let end, end <= instant { return }
    (end, endsLater) = (instant, false)
    if let attemptDeadline, attemptDeadline >= instant { self.attemptDeadline = nil }
  }

  /// Sets the default limit of the call, which does not count time in which content moves.
  ///
  /// Queues, connecting, waiting for the response head and delays between attempts count. While request or response
  /// content moves, the limit pauses; the call then ends after 20 seconds without a byte
  /// (``ExchangeTimeouts/stall``), or below 1 KiB/s over 60 seconds. It goes on with the time that was left when the
  /// request has been sent, and before another attempt or redirect. It no longer applies once the app reads a streamed
  /// response. A limit of a hundred years or more is none. Only the first call of this method has an effect.
  ///
  /// - Parameter limit: the time from the start of the call.
  public mutating func limitUntilContentMoves(_ limit: Duration) {
    guard limit < .endless else { return }
    let stall = values[ExchangeTimeouts.self].stall ?? CallTimeLimit.standardStall
    call.setLimit(CallTimeLimit(limit, stall: stall, since: startInstant))
    let instant = startInstant.advanced(by: limit)
    if let end, end <= instant { return }
    (end, endsLater) = (instant, true)
    if let attemptDeadline, attemptDeadline >= instant { self.attemptDeadline = nil }
  }

  /// Has whatever works for the present attempt give up at `instant`, unless the head of the answer is there by then.
  ///
  /// An attempt runs in the task of its call and cannot be cancelled apart from it, so this cancels nothing: it is said
  /// in ``attemptDeadline``, and transports and all that waits ahead of them throw
  /// ``TransportError/attemptTimedOut(in:requestState:)`` by themselves. So the call may try again. It counts for every
  /// redirect of the attempt, and says nothing of content. An earlier limit stays in force, and so does an earlier end
  /// of the call.
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
    guard let presentEnd else { return try await work() }
    return try await DeadlineScope.perform(until: Deadline(presentEnd, on: clock), work).get()
  }
}
