extension Configuration {
  /// The middlewares of a client, outermost first, each with the reason for its place.
  ///
  /// Printed, it tells their order. Places between these are kept for what is not there yet: cache (outside retry, so
  /// that a hit costs nothing) and cookies (anew for each hop).
  public var pipeline: Pipeline {
    var pipeline = Pipeline()
    // Outside everything that compares, stores or repeats messages: they are complete then. A redirect's target is
    // the server's own and gets no parameters added.
    pipeline.insert(CommonParameters(), .after(.validation))
    // Outside everything that waits, so that waiting counts.
    pipeline.insert(TotalDeadline(standard: timeout), .after(.totalDeadline))
    // Outside everything that an attempt holds or counts for, so that nothing is held during a pause.
    pipeline.insert(Retry(retry, budget: retryBudget), .after(.retry))
    insertAttempt(&pipeline)
    // Inside retry, so that hops are part of an attempt; outside of all that belongs to one origin: each hop is judged
    // anew.
    pipeline.insert(Redirects(redirects), .after(.redirects))
    // Innermost: read just before the message leaves, so that they are fresh for each attempt and hop. Whose they are is
    // settled before anything waits: the client binds each call just inside the total deadline.
    pipeline.insert(Credentials(onSessionEnd: onSessionEnd), .after(.credentials))
    customizePipeline(&pipeline)
    return pipeline
  }

  /// What every attempt passes before its message leaves.
  private func insertAttempt(_ pipeline: inout Pipeline) {
    // Outside the permit, so that whoever waits for a network has none; inside retry, so that an attempt can wait.
    if let connectivity {
      pipeline.insert(ConnectivityGate(connectivity, connectivityPolicy), .before(.scheduling))
    }
    if let scheduler { pipeline.insert(Scheduling(scheduler), .after(.scheduling)) }
    // Inside the permit, so that an attempt's time begins with its turn.
    pipeline.insert(AttemptDeadline(standard: attemptTimeout), .after(.attemptDeadline))
    if let rateLimiter { pipeline.insert(rateLimiter, .after(.rateLimit)) }
    // Inside all that waits, so that it judges what servers do, and each attempt is counted.
    if let breaker { pipeline.insert(breaker, .after(.breaker)) }
  }
}
