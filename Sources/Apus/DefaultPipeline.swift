extension Configuration {
  /// The middlewares of a client, outermost first, each with the reason for its place.
  ///
  /// Printed, it tells their order. Places between these are kept for what is not there yet: cache and coalescing
  /// (outside retry, so that a hit costs nothing), retry, scheduling, attempt deadline, rate limit and breaker (so
  /// that each attempt is counted and none holds a permit while it waits), cookies (anew for each hop).
  public var pipeline: Pipeline {
    var pipeline = Pipeline()
    // Outside everything that compares, stores or repeats messages: they are complete then. A redirect's target is
    // the server's own and gets no parameters added.
    pipeline.insert(CommonParameters(), .after(.validation))
    // Outside everything that waits, so that waiting counts.
    pipeline.insert(TotalDeadline(standard: timeout), .after(.totalDeadline))
    // Inside retry, so that hops are part of an attempt; outside of all that belongs to one origin: each hop is judged
    // anew.
    pipeline.insert(Redirects(redirects), .after(.redirects))
    // Innermost: read just before the message leaves, so that they are fresh for each attempt and hop.
    pipeline.insert(Credentials(onUnauthorized: onUnauthorized), .after(.credentials))
    customizePipeline(&pipeline)
    return pipeline
  }
}
