import Synchronization

/// Coalesces calls: identical requests in flight share one exchange.
///
/// Calls with the same id and ``DuplicatePolicy/join`` are coalesced if they send the same message, calls of a coalesced
/// endpoint (``Endpoint/coalesced(_:)``) if they request the same. It belongs inside the total deadline: each call keeps
/// its own deadline. The calls share the response with its content in memory; each accepts and decodes it for itself.
/// Calls of different environments or principals are never coalesced, nor are calls whose content is a stream.
public final class CoalescingMiddleware: ConditionalMiddleware {
  private typealias Table = FlightTable<FlightKey, Flight>

  private let table = Mutex(FlightTable<FlightKey, Flight>())
  /// The limits for calls of coalesced endpoints.
  public let limits: CoalescingLimits

  /// Makes the middleware.
  ///
  /// - Parameter limits: which calls of coalesced endpoints may join an exchange. Default: ``CoalescingLimits/init()``.
  public init(_ limits: CoalescingLimits = CoalescingLimits()) {
    self.limits = limits
  }

  func isNeeded(for context: CallContext) -> Bool {
    context.delivery == .buffered && (context.base.joins || context.base.coalesces)
  }

  /// Joins the exchange of an identical request, or starts one that others can join.
  ///
  /// - Throws: what the exchange throws; `CancellationError` when the call is cancelled.
  public func intercept(
    _ request: RequestMessage, context: CallContext, next: Next
  ) async throws -> ResponseMessage {
    guard let key = FlightKey(request, context, limits) else { return try await next(request, context: context) }
    switch enter(key, context) {
    case .alone: return try await next(request, context: context)
    case .joined(let flight): return try await join(flight, context)
    case .began(let flight, _):
      // No single call's deadline binds an exchange that several calls wait for.
      let shared = context.shared(by: flight.sharers)
      start(flight, key) { try await next(request, context: shared) }
      return try await flight.wait(context.base.serial)
    }
  }

  @inline(never)  // Its temporaries would be kept for as long as the call waits.
  private func enter(_ key: FlightKey, _ context: CallContext) -> Table.Entry {
    let call = context.base
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
      context.record(.joined(serial: flight.leader.serial))
    case .began(let flight, let other):
      flight.join(context)
      if let other { context.record(.note("could not join call", Int64(clamping: other.leader.serial))) }
    case .alone: context.record(.note("does not share, exchanges under way", Int64(limit)))
    }
    return entry
  }

  /// Waits for an exchange that another call started. Its events are in the trace of that call, so copy what matters.
  private func join(_ flight: Flight, _ context: CallContext) async throws -> ResponseMessage {
    do {
      let response = try await flight.wait(context.base.serial)
      context.base.takeAttempts(of: flight.leader)
      context.base.headArrived(response.head, attempt: context.attempt)
      return response
    } catch {
      context.base.takeAttempts(of: flight.leader)
      throw error
    }
  }

  private func start(
    _ flight: Flight, _ key: FlightKey, _ exchange: @escaping @Sendable () async throws -> ResponseMessage
  ) {
    let task = flight.leader.host.spawner.spawnShared {
      let result: Result<ResponseMessage, any Error>
      do {
        result = .success(try await exchange())
      } catch {
        result = .failure(error)
      }
      self.table.withLock { $0.end(flight, key) }
      flight.complete(result)
    }
    flight.keep(task)
  }
}

extension CoalescingMiddleware: SelfDescribing {
  /// The limits.
  public var facts: [Fact] {
    [
      .setting("joins responses up to", "\(limits.sharedBytes) bytes"),
      .setting("at most \(limits.exchanges) shared exchanges", ""),
    ]
  }
}

/// The limits for calls of coalesced endpoints (``Endpoint/coalesced(_:)``).
public struct CoalescingLimits: Sendable, Hashable {
  /// The most bytes of a response that may have arrived, or be announced, for another call to join its exchange. A later
  /// call has its own exchange, which further calls may join. A lower ``CallContext/contentLimit`` of the call takes
  /// precedence. Default: 1 MiB.
  ///
  /// Calls that share an exchange share its bytes in memory. Calls that have joined get the response, however large.
  public var sharedBytes = 1 << 20
  /// The most shared exchanges in flight, including those of calls with an id. Further calls are not coalesced. Default:
  /// 1024.
  public var exchanges = 1024
  /// Lower-case names of fields (headers) that identify a call, not its response: calls that differ in them are coalesced.
  /// The fields of the call that starts the exchange are sent. Default: ``standardPerCallFields``.
  public var perCallFields: Set<String> = CoalescingLimits.standardPerCallFields

  /// Makes the default limits.
  public init() {}

  /// The fields of tracing (`traceparent` and similar) and of request ids (`x-request-id` and similar).
  public static let standardPerCallFields: Set<String> = [
    "b3", "request-id", "traceparent", "tracestate", "x-amzn-trace-id", "x-b3-flags", "x-b3-parentspanid",
    "x-b3-sampled", "x-b3-spanid", "x-b3-traceid", "x-cloud-trace-context", "x-correlation-id", "x-request-id",
  ]
}

extension Call {
  /// Copies the failed attempts of the call whose exchange this one shares, also those after that call had ended.
  fileprivate func takeAttempts(of leader: Call) {
    for attempt in leader.failedAttempts { record(.attemptFailed(attempt), attempt: attempt.attempt) }
  }
}
