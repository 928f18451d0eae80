extension Configuration {
  /// The middlewares of a client, outermost first: the default ones, changed by ``customizePipeline``. ``Slot`` has the
  /// reason for each position. The slots `cache` and `cookies` are still empty.
  public var pipeline: Pipeline {
    var pipeline: Pipeline = [
      // A redirect's target comes from the server and gets no parameters.
      .validation: CommonParametersMiddleware(),
      .timeout: TimeoutMiddleware(standard: timeout),
      .principal: PrincipalBinding(),
      .coalescing: CoalescingMiddleware(coalescing),
      .retry: RetryMiddleware(retry, budget: retryBudget),
      // Outside the permit, so that a call that waits for a network holds none.
      .scheduling: connectivity.map { ConnectivityMiddleware($0, connectivityPolicy) },
      .scheduling: scheduler.map { SchedulingMiddleware($0) },
      .attemptTimeout: AttemptTimeoutMiddleware(standard: attemptTimeout),
      .rateLimit: rateLimiter,
      .breaker: breaker,
      .redirects: RedirectMiddleware(redirects),
      .authentication: AuthenticationMiddleware(onSessionEnd: onSessionEnd),
      .transport: allowedOrigins.map { AllowedOriginsMiddleware($0) },
    ]
    customizePipeline(&pipeline)
    return pipeline
  }
}
