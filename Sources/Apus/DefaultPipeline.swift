extension Configuration {
  /// The middlewares of a client, outermost first: the default middlewares, changed by ``customizePipeline``. ``Slot``
  /// documents the reason for each position. The slot `trace` is empty unless the app adds middlewares; `cache`,
  /// `rateLimit`, `cookies` and `transport` are empty unless ``cache``, ``rateLimiter``, ``cookies`` or
  /// ``allowedOrigins`` is set.
  public var pipeline: Pipeline {
    var pipeline: Pipeline = [
      // Outside of redirects, because a redirect's target is chosen by the server and gets no common parameters.
      .validation: CommonParametersMiddleware(),
      .timeout: TimeoutMiddleware(default: timeout),
      .principal: PrincipalBinding(),
      .principal: cookies.map { _ in CookieBinding() },
      .cache: cache.map { CacheMiddleware($0) },
      .coalescing: CoalescingMiddleware(coalescing),
      .retry: RetryMiddleware(retry, budget: retryBudget),
      // Outside scheduling, so that a call that waits for a network holds no permit.
      .scheduling: connectivity.map { ConnectivityMiddleware($0, connectivityPolicy) },
      .scheduling: scheduler.map { SchedulingMiddleware($0) },
      .attemptTimeout: AttemptTimeoutMiddleware(default: attemptTimeout),
      .rateLimit: rateLimiter,
      .breaker: breaker,
      .redirects: RedirectMiddleware(redirects),
      .cookies: cookies.map { CookieMiddleware($0) },
      .authentication: AuthenticationMiddleware(onSessionEnd: onSessionEnd),
      .transport: allowedOrigins.map { AllowedOriginsMiddleware($0) },
    ]
    customizePipeline(&pipeline)
    return pipeline
  }
}
