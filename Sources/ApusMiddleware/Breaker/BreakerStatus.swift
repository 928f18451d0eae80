public import ApusCore

/// What a circuit breaker does with calls now.
public enum BreakerStatus: Sendable, Hashable {
  /// They pass, and their outcomes are counted.
  case closed
  /// They are refused; from this instant on, on the client's clock, one is let through to see.
  case open(until: MonotonicInstant)
  /// One has been let through, or the next one will be; the others are refused until it is known how it went.
  case halfOpen
  /// They are refused until somebody says otherwise, see ``CircuitBreaker/isolate(_:)``.
  case isolated
}
