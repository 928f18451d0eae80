extension Configuration {
  /// The middlewares of a client, outermost first, each with the reason for its place.
  ///
  /// The slots `cache` (outside retry, so that a hit costs nothing) and `cookies` (for each hop) are still empty.
  public var pipeline: Pipeline {
    var pipeline: Pipeline = [
      // Messages are complete before anything compares, stores or repeats them. A redirect's target comes from the
      // server and gets no parameters.
      .validation: CommonParametersMiddleware(),
      // Outside of everything that waits, so that waiting counts.
      .timeout: TimeoutMiddleware(standard: timeout),
      // The account is settled before anything stores, shares, repeats or holds the call.
      .principal: PrincipalBinding(),
      // Inside the deadline, so that each caller keeps its own; outside retry, so that shared calls retry once.
      .coalescing: CoalescingMiddleware(coalescing),
      // Outside of everything that an attempt holds, so that a delay holds no permit.
      .retry: RetryMiddleware(retry, budget: retryBudget),
      // Outside the permit, so that a call that waits for a network holds none; inside retry, so that attempts can
      // wait.
      .scheduling: connectivity.map { ConnectivityMiddleware($0, connectivityPolicy) },
      .scheduling: scheduler.map { SchedulingMiddleware($0) },
      // Inside the permit, so that an attempt's time begins when it is admitted.
      .attemptTimeout: AttemptTimeoutMiddleware(standard: attemptTimeout),
      // Inside the permit, so that calls take tokens in the order in which they are admitted.
      .rateLimit: rateLimiter,
      // Inside everything that waits, so that it judges only servers and counts every attempt.
      .breaker: breaker,
      // Inside retry, so that hops are part of an attempt; outside of what belongs to one origin, so that each hop is
      // judged anew.
      .redirects: RedirectMiddleware(redirects),
      // Innermost: credentials are read just before the message is sent, for each attempt and hop.
      .authentication: AuthenticationMiddleware(onSessionEnd: onSessionEnd),
      // Sees exactly what is sent.
      .transport: allowedOrigins.map { AllowedOriginsMiddleware($0) },
    ]
    customizePipeline(&pipeline)
    return pipeline
  }
}
