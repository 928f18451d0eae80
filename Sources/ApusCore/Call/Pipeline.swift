/// The ordered list of a client's middlewares, with named slots.
///
/// The default pipeline is `Configuration.pipeline` of the module `Apus`; change it with `customizePipeline`. A
/// pipeline from a literal has only the middlewares in the literal: no timeouts, no retries, no redirects, no
/// credentials.
public struct Pipeline: Sendable, ExpressibleByDictionaryLiteral, CustomStringConvertible {
  /// The position at which a middleware is inserted.
  public enum Position: Sendable, Hashable {
    /// Before all middlewares of the slot: further out.
    case before(Slot)
    /// After all middlewares of the slot: further in.
    case after(Slot)
  }

  package struct Entry: Sendable {
    package let slot: Slot
    package let middleware: any Middleware
  }

  package private(set) var entries: [Entry] = []

  /// Creates a pipeline without policies. Its only middlewares bind calls to their account and coalesce calls; each
  /// acts only if the environment or the endpoint enables it.
  public init() {
    self = [.principal: PrincipalBinding(), .coalescing: CoalescingMiddleware()]
  }

  /// Creates a pipeline from middlewares in order, outermost first. `nil` adds no middleware.
  ///
  /// Every call has its own exchange: ``DuplicatePolicy/coalesce`` behaves as ``DuplicatePolicy/allow``.
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
  package var middlewares: [any Middleware] { entries.map(\.middleware) }

  /// One line for each middleware with its slot, outermost first.
  public var description: String {
    entries.map { "\($0.slot): \(type(of: $0.middleware))" }.joined(separator: "\n")
  }
}

/// A named position in the pipeline. The cases are in order, outermost first.
///
/// Middlewares before ``retry`` run once per call, middlewares after it once per attempt.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum Slot: Sendable, CaseIterable, Comparable {
  /// Tracing and logging: outermost, so that they observe the effects of all other middlewares.
  case trace
  /// Completing and checking requests, such as common fields and parameters: a message is complete before any
  /// middleware compares, stores or repeats it.
  case validation
  /// The deadline of the whole call: outside all middlewares that wait, so that waiting counts.
  case timeout
  /// The account of the call: determined before any middleware stores, shares, repeats or queues the call.
  case principal
  /// Stored responses: outside retry, so that a cache hit skips all middlewares further in.
  case cache
  /// Coalescing: inside the deadline, so that each call keeps its own deadline; outside retry, so that shared calls
  /// retry once.
  case coalescing
  /// Retries: outside the middlewares that hold a permit for an attempt, so that no permit is held during a delay.
  case retry
  /// Concurrency limits, and waiting for a network: inside retry, so that each attempt needs a permit.
  case scheduling
  /// The deadline of one attempt: inside scheduling, so that its time begins with the permit.
  case attemptTimeout
  /// Rate limits: inside scheduling, so that calls consume tokens in the order in which they are admitted; each attempt
  /// consumes tokens.
  case rateLimit
  /// Circuit breakers: inside all middlewares that wait, so that the circuit depends only on servers and every attempt
  /// counts toward its state.
  case breaker
  /// Redirects: inside retry, since hops are part of an attempt; outside the middlewares that act on each hop
  /// separately.
  case redirects
  /// Cookies, for each hop.
  case cookies
  /// Credentials and signatures: read just before a message is sent, for each attempt and hop.
  case authentication
  /// Middlewares that must see the message exactly as the transport sends it.
  case transport
}
