extension Configuration {
  /// A kind of program, which determines concurrency limits, retry delays and the breaker policy of its clients.
  public enum Preset: Sendable, Hashable, CaseIterable {
    /// For apps, whose users wait for results: at most 64 concurrent calls, 5 per origin (over HTTP/2 as many as the
    /// origin accepts on a connection); retry delays of up to 200 and 400 ms; the circuit of an endpoint opens after 5
    /// consecutive gateway errors, or when half of at least 10 exchanges within 30 seconds fail.
    case app
    /// For servers that call other servers: at most 64 concurrent calls per origin (over HTTP/2 as many as the origin
    /// accepts on a connection, at most 100); retry delays of up to 50 and 100 ms; the circuit of an endpoint opens
    /// after 5 consecutive gateway errors, or when a tenth of at least 100 exchanges within 30 seconds fail.
    case server

    /// The default on this platform.
    static var platform: Preset {
      #if os(Linux)
      .server
      #else
      .app
      #endif
    }
  }

  /// Sets ``retry``, ``scheduler`` and ``breaker`` to the values of a preset. Scheduler and breaker are new instances.
  public mutating func apply(_ preset: Preset) {
    switch preset {
    case .app:
      retry = .app
      scheduler = Scheduler(.app)
      breaker = CircuitBreaker(.app)
    case .server:
      retry = .server
      scheduler = Scheduler(.server)
      breaker = CircuitBreaker(.server)
    }
  }
}
