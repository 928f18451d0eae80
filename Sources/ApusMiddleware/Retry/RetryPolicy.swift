public import HTTPTypes

/// Which failures are tried again, how often and after what time.
///
/// The rules that no policy changes: what was cancelled, what would fail again (certificates, content that is too
/// large or cannot be made, what a middleware refuses) and content that can be sent only once are never tried again;
/// what the server may have acted on is tried again only where it may act twice: by its method, where its endpoint says
/// so (`.idempotent()`), or with an ``IdempotencyKey``. Of a redirected call that must hold for each message that was sent.
public struct RetryPolicy: Sendable, Hashable {
  /// What becomes of the time that a server asks to wait (RFC 9110 §10.2.3).
  public enum ServerDelay: Sendable, Hashable {
    /// It is waited, and where it is longer than this the call fails at once; its error's `retryAfter` says how long.
    case honoured(upTo: Duration)
    /// It is waited, but never longer than this.
    case clamped(to: Duration)
  }

  /// How many attempts there are, the first included; less than 2: nothing is tried again. One more attempt after a
  /// message that was not sent at all does not count. Default: 3.
  public var attempts: Int
  /// The longest pause after the first attempt; it doubles with each. How long it is is drawn by lot, evenly from zero
  /// on, so that clients do not come back all at once. Default: 200 ms.
  public var base: Duration
  /// The same after status 429. Default: 1 s.
  public var throttledBase: Duration = .seconds(1)
  /// No pause drawn by lot is longer. Default: 20 s.
  public var longestPause: Duration = .seconds(20)
  /// What becomes of the time that a server asks to wait. Up to a tenth more is waited, for the same reason as above.
  /// Default: honoured up to 60 s.
  public var serverDelay = ServerDelay.honoured(upTo: .seconds(60))
  /// The statuses that are tried again. Beside them these are: 413 with `Retry-After`, 409 with an idempotency key (the
  /// first attempt is still at work), 421 once at once. Default: ``standardStatuses``.
  public var statuses: Set<Int> = RetryPolicy.standardStatuses
  /// Decides about a rejection where its status does not tell, for example a 403 that is a rate limit
  /// (``RetryRule/rateLimitedForbidden``). Default: `nil`.
  public var rule: RetryRule?
  /// Whether 429 and 503 with `Retry-After` are tried again for calls that are not idempotent: the server says that it
  /// did nothing. Default: no.
  public var repeatsUnsafe = false
  /// Fields in which a server says with `true` or `false` whether a refused call should be tried again. That counts
  /// more than the status, and than the method. Default: ``standardVerdictFields``.
  public var verdictFields: [HTTPField.Name] = RetryPolicy.standardVerdictFields

  /// Makes a policy; what is not given has its default.
  public init(attempts: Int = 3, base: Duration = .milliseconds(200)) {
    self.attempts = attempts
    self.base = base
  }

  /// For somebody who waits: 3 attempts, pauses of up to 200 and 400 ms.
  public static let interactive = RetryPolicy()
  /// Between servers, near each other: 3 attempts, pauses of up to 50 and 100 ms.
  public static let server = RetryPolicy(base: .milliseconds(50))
  /// Nothing is tried again.
  public static let none = RetryPolicy(attempts: 1)

  /// 408, 425, 429, 500, 502, 503, 504.
  public static let standardStatuses: Set<Int> = [408, 425, 429, 500, 502, 503, 504]
  /// `x-should-retry` and `stripe-should-retry`.
  public static let standardVerdictFields = ["x-should-retry", "stripe-should-retry"].compactMap {
    HTTPField.Name($0)
  }
}
