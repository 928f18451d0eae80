extension Configuration {
  /// What a client is for, as far as it decides how many calls run at a time and how soon they are tried again.
  public enum Use: Sendable, Hashable, CaseIterable {
    /// Somebody waits for what is shown: 64 calls at a time and 5 of them to one server, pauses of up to 200 and 400 ms
    /// before further attempts, and a breaker that few calls open.
    case app
    /// Between servers: 64 calls at a time to each, pauses of up to 50 and 100 ms, and a breaker that opens when a tenth
    /// of many calls fails.
    case server

    /// What most clients on this platform are for.
    static var platform: Use {
      #if os(Linux)
        .server
      #else
        .app
      #endif
    }
  }

  /// Sets ``retry``, ``scheduler`` and ``breaker`` to what suits a use; the two latter are new ones.
  public mutating func suit(_ use: Use) {
    switch use {
    case .app:
      retry = .interactive
      scheduler = Scheduler(.apps)
      breaker = CircuitBreaker(.interactive)
    case .server:
      retry = .server
      scheduler = Scheduler(.servers)
      breaker = CircuitBreaker(.server)
    }
  }
}
