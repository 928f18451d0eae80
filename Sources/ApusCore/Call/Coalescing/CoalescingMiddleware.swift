import Synchronization

/// A middleware that coalesces calls: equal requests in flight share one exchange.
///
/// Calls with the same id and ``DuplicatePolicy/coalesce`` are coalesced if they send the same message. Calls of a
/// coalesced endpoint are coalesced if they are equal (``Endpoint/coalesced(_:)``). The middleware belongs inside
/// ``Slot/timeout``, so that each call keeps its own deadline. The calls share the response with its content (body)
/// in memory. Each call accepts and decodes the response itself. Calls of different environments or principals are
/// never coalesced, nor are calls whose content is a stream.
package final class CoalescingMiddleware: ConditionalMiddleware {
  private typealias Table = FlightTable<FlightKey, Flight>

  private let table = Mutex(FlightTable<FlightKey, Flight>())
  /// The limits for calls of coalesced endpoints.
  private let limits: CoalescingLimits

  /// Creates the middleware.
  ///
  /// - Parameter limits: the limits for calls of coalesced endpoints. Default: ``CoalescingLimits/init()``.
  package init(_ limits: CoalescingLimits = CoalescingLimits()) {
    self.limits = limits
  }

  package var audience: MiddlewareAudience { .coalescedCalls }

  /// Joins the exchange of an equal request, or starts an exchange that other calls can join.
  ///
  /// - Throws: the error of the exchange; `CancellationError` when the call is cancelled.
  package func intercept(
    _ request: RequestMessage, context: CallContext, next: Next
  ) async throws -> ResponseMessage {
    guard let key = FlightKey(request, context, limits) else { return try await next(request, context: context) }
    switch enter(key, context) {
    case .alone: return try await next(request, context: context)
    case .joined(let flight): return try await join(flight, context)
    case .began(let flight, _):
      // The deadline of a single call does not apply to an exchange that several calls wait for.
      let shared = context.shared(by: flight.sharers)
      let steps = context.values[SharedExchangeKey.self]
      start(flight, key, steps) {
        try steps?.begin()
        return try await next(request, context: shared)
      }
      return try await flight.wait(context.owner.serial)
    }
  }

  private func enter(_ key: FlightKey, _ context: CallContext) -> Table.Entry {
    let call = context.owner
    let (limit, terms) = (key.limit(limits), key.terms(limits))
    let entry = table.withLock { table in
      table.enter(key, limit: limit) {
        $0.expect(call.serial)
      } make: {
        Flight(by: call, on: terms)
      }
    }
    switch entry {
    case .joined(let flight):
      flight.join(context)
      context.record(.coalesced(serial: flight.leader.serial))
    case .began(let flight, let other):
      flight.join(context)
      if let other { context.record(.note("could not join call", Int64(clamping: other.leader.serial))) }
    case .alone: context.record(.note("not coalesced, exchanges in flight", Int64(limit)))
    }
    return entry
  }

  /// Waits for an exchange that another call started. The events of the exchange are in the trace of that call, so
  /// the failed attempts and the response head are copied.
  private func join(_ flight: Flight, _ context: CallContext) async throws -> ResponseMessage {
    do {
      let response = try await flight.wait(context.owner.serial)
      context.owner.takeAttempts(of: flight.leader)
      // The URL of the response is the URL of the exchange, after redirects.
      if let message = flight.leader.snapshot(\.message) { context.owner.setMessage(message) }
      context.owner.headArrived(response.head, attempt: context.attempt)
      return response
    } catch {
      context.owner.takeAttempts(of: flight.leader)
      throw error
    }
  }

  private func start(
    _ flight: Flight, _ key: FlightKey, _ steps: SharedExchangeSteps?,
    _ exchange: @escaping @Sendable () async throws -> ResponseMessage
  ) {
    let task = flight.leader.host.spawner.spawnShared {
      let result: Result<ResponseMessage, any Error>
      do {
        result = .success(try await exchange())
      } catch {
        result = .failure(error)
      }
      steps?.end(result)
      self.table.withLock { $0.end(flight, key) }
      flight.complete(result)
    }
    flight.keep(task)
  }
}

/// Steps before and after an exchange that calls share. No other call can begin an equal exchange in between.
package struct SharedExchangeSteps: Sendable {
  /// Called before the exchange. An error takes the place of the exchange.
  package let begin: @Sendable () throws -> Void
  /// Called with the result.
  package let end: @Sendable (Result<ResponseMessage, any Error>) -> Void

  package init(
    begin: @escaping @Sendable () throws -> Void, end: @escaping @Sendable (Result<ResponseMessage, any Error>) -> Void
  ) {
    (self.begin, self.end) = (begin, end)
  }
}

/// The steps of a call whose exchange is shared. Default: `nil`.
package enum SharedExchangeKey: ContextKey {
  package static let defaultValue: SharedExchangeSteps? = nil
  package static let affectsCoalescing = false
}

extension CoalescingMiddleware: SelfDescribing {
  /// The limits.
  package var facts: [Fact] {
    [
      .setting("coalesces responses up to", "\(limits.sharedBytes) bytes"),
      .setting("at most \(limits.exchanges) shared exchanges", ""),
    ]
  }
}

/// The limits for calls of coalesced endpoints (``Endpoint/coalesced(_:)``).
public struct CoalescingLimits: Sendable, Hashable {
  /// The maximum number of response bytes, received or announced, up to which another call may join an exchange. A
  /// later call starts its own exchange, which further calls may join. A lower ``CallContext/contentLimit`` of the
  /// call takes precedence. Default: 1 MiB.
  ///
  /// Calls that share an exchange share its bytes in memory. Calls that have joined receive the response regardless
  /// of its size.
  public var sharedBytes = 1 << 20
  /// The maximum number of shared exchanges in flight, including shared exchanges of calls with an id. Further calls
  /// are not coalesced. Default: 1024.
  public var exchanges = 1024
  /// The lower-case names of fields (headers) that identify a call and do not affect its response. Calls that differ
  /// only in these fields are coalesced. The fields of the call that starts the exchange are sent. Default:
  /// ``defaultPerCallFields``.
  package var perCallFields: Set<String> = CoalescingLimits.defaultPerCallFields

  /// Creates the default limits.
  public init() {}

  /// The fields of tracing (`traceparent` and similar) and of request ids (`x-request-id` and similar).
  package static let defaultPerCallFields: Set<String> = [
    "b3", "request-id", "traceparent", "tracestate", "x-amzn-trace-id", "x-b3-flags", "x-b3-parentspanid",
    "x-b3-sampled", "x-b3-spanid", "x-b3-traceid", "x-cloud-trace-context", "x-correlation-id", "x-request-id",
  ]
}

extension Call {
  /// Copies the failed attempts of the leader, including attempts that failed after the leader ended.
  fileprivate func takeAttempts(of leader: Call) {
    for attempt in leader.failedAttempts { record(.attemptFailed(attempt), attempt: attempt.attempt) }
  }
}
