/// The middlewares of a client in order: a list with named slots.
///
/// <!-- sample: pipeline-literal -->
/// ```swift
/// let pipeline: Pipeline = [
///   .totalDeadline: TotalDeadline(standard: .seconds(30)),
///   .coalescing: CoalescingMiddleware(),
///   .retry: Retry(),
/// ]
/// ```
public struct Pipeline: Sendable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
  /// Where a middleware is inserted.
  public enum Position: Sendable, Hashable {
    /// Before everything in the slot: further out.
    case before(Slot)
    /// After everything in the slot: further in.
    case after(Slot)

    /// Once per call, just outside retry.
    public static let beforeRetry = Position.before(.retry)
    /// Once per attempt, just inside retry.
    public static let afterRetry = Position.after(.retry)
    /// Next to the transport.
    public static let beforeTransport = Position.before(.transport)
  }

  package struct Entry: Sendable {
    package let slot: Slot
    package let middleware: any Middleware
  }

  package private(set) var entries: [Entry] = []

  /// Makes a pipeline of middlewares in order, outermost first; `nil` leaves a place empty.
  ///
  /// Without a ``CoalescingMiddleware`` every call has its own exchange: ``DuplicatePolicy/join`` behaves as
  /// ``DuplicatePolicy/allow``. Without a ``PrincipalBinding`` a call that waits may be sent as another account.
  ///
  /// - Precondition: the slots are in ascending order.
  public init(dictionaryLiteral elements: (Slot, (any Middleware)?)...) {
    for (slot, middleware) in elements {
      precondition(entries.last.map { $0.slot <= slot } ?? true, "the slot \(slot) is out of order")
      if let middleware { entries.append(Entry(slot: slot, middleware: middleware)) }
    }
  }

  /// Inserts a middleware at the outer or inner end of a slot.
  public mutating func insert(_ middleware: any Middleware, _ position: Position) {
    switch position {
    case .before(let slot):
      let index = entries.firstIndex { $0.slot >= slot } ?? entries.count
      entries.insert(Entry(slot: slot, middleware: middleware), at: index)
    case .after(let slot):
      let index = entries.firstIndex { $0.slot > slot } ?? entries.count
      entries.insert(Entry(slot: slot, middleware: middleware), at: index)
    }
  }

  /// Removes every middleware of a slot.
  public mutating func removeAll(in slot: Slot) {
    entries.removeAll { $0.slot == slot }
  }

  /// The middlewares, outermost first.
  public var middlewares: [any Middleware] { entries.map(\.middleware) }

  /// One line for each middleware with its slot, outermost first.
  public var description: String {
    entries.map { "\($0.slot): \(type(of: $0.middleware))" }.joined(separator: "\n")
  }
}

/// The named places of the pipeline, outermost first.
///
/// Middlewares before ``retry`` run once per call, middlewares after it once per attempt.
public enum Slot: Int, Sendable, CaseIterable, Comparable {
  /// Tracing and logging: outermost, to see everything.
  case trace
  /// Completing and checking requests, such as common fields and parameters: outside of everything that compares, stores
  /// or repeats messages.
  case validation
  /// The deadline of the whole call: outside of everything that waits.
  case totalDeadline
  /// The account of the call: settled before anything stores, shares, repeats or holds the call.
  case principal
  /// Stored responses: a hit skips everything further in.
  case cache
  /// Coalesced calls: inside the deadline, so that each caller keeps its own.
  case coalescing
  /// Retries.
  case retry
  /// Concurrency limits: inside retry, so that no permit is held during a delay.
  case scheduling
  /// The deadline of one attempt.
  case attemptDeadline
  /// Rate limits.
  case rateLimit
  /// Circuit breakers: every attempt counts.
  case breaker
  /// Redirects: everything further in runs for each hop.
  case redirects
  /// Cookies, for each hop.
  case cookies
  /// Credentials and signatures: innermost, so that they are fresh for each hop.
  case credentials
  /// Middlewares that must see exactly what the transport sees.
  case transport

  /// Whether `lhs` is further out.
  public static func < (lhs: Slot, rhs: Slot) -> Bool { lhs.rawValue < rhs.rawValue }
}
