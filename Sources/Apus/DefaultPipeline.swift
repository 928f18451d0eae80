extension Configuration {
  /// The middlewares of a client, outermost first, each with the reason for its place.
  ///
  /// Places between these are kept for what is not there yet: cache and coalescing (outside retry, so that
  /// a hit costs nothing), retry, scheduling, attempt deadline, rate limit and breaker (so that each attempt
  /// is counted and none holds a permit while it waits), redirects and cookies (anew for each hop).
  var pipeline: Pipeline {
    var pipeline = Pipeline()
    // Outermost: the duration it logs is what the app waited.
    if let logging { pipeline.insert(logging, .after(.trace)) }
    // Outside everything that waits, so that waiting counts.
    pipeline.insert(TotalDeadline(standard: timeout), .after(.totalDeadline))
    // Inside redirects: common fields and parameters belong to each hop's own request.
    pipeline.insert(CommonParameters(), .after(.credentials))
    // Innermost: read just before the message leaves, so that they are fresh for each attempt and hop.
    pipeline.insert(Credentials(onUnauthorized: onUnauthorized), .after(.credentials))
    customizePipeline(&pipeline)
    return pipeline
  }
}
