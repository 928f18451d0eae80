/// The named places of the pipeline, outermost first.
///
/// Whatever stands before ``retry`` runs once per call, whatever stands after it once per attempt.
public enum Slot: Int, Sendable, CaseIterable, Comparable {
  /// Tracing and logging: outermost, so that it sees everything.
  case trace
  /// What completes and checks a request without any network, such as common fields and parameters: outside of
  /// everything that compares, stores or repeats messages.
  case validation
  /// The deadline of the whole call: outside everything that waits.
  case totalDeadline
  /// Stored responses: a hit costs nothing further in.
  case cache
  /// Joined calls: inside the deadline, so that each caller keeps its own.
  case coalescing
  /// Repeated attempts.
  case retry
  /// Permits to send: inside retry, so that none is held during a back-off.
  case scheduling
  /// The deadline of one attempt.
  case attemptDeadline
  /// Pace limits.
  case rateLimit
  /// Refusal of origins that keep failing: each attempt counts.
  case breaker
  /// Redirects: everything further in runs for each hop.
  case redirects
  /// Cookies, for each hop.
  case cookies
  /// Credentials and signatures: innermost, so that they are fresh for each hop.
  case credentials
  /// What must see exactly what the transport sees.
  case transport

  /// Whether `lhs` is further out.
  public static func < (lhs: Slot, rhs: Slot) -> Bool { lhs.rawValue < rhs.rawValue }
}
