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
      // No single caller's deadline binds what all of them wait for.
      let shared = context.shared(by: flight.sharers)
      start(flight, key) { try await next(request, context: shared) }
      return try await flight.wait(context.base.serial)
    }
  }

  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
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

  /// Waits as one that did not begin the exchange: what became of it has reached the first call's state only.
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
  /// How far calls share that did not name each other.
  public var facts: [Fact] {
    [
      .setting("joins responses up to", "\(limits.sharedBytes) bytes"),
      .setting("at most \(limits.exchanges) shared exchanges", ""),
    ]
  }
}

/// How far calls share exchanges that did not name each other, see ``Endpoint/coalesced(_:)``.
public struct CoalescingLimits: Sendable, Hashable {
  /// How many bytes of an answer may be there, or be announced, for another call to join its exchange; one that comes
  /// later has an exchange of its own, which the next may join. Where the call's own ``CallContext/contentLimit`` is
  /// lower, that counts. Default: 1 MiB.
  ///
  /// Those that share have the same bytes in memory, once for all of them. However many bytes arrive, those that had
  /// joined before get their answer.
  public var sharedBytes = 1 << 20
  /// How many exchanges that calls share, or could, are under way at a time, those of named calls included; a call
  /// beyond has one that it does not share. Default: 1024.
  public var exchanges = 1024
  /// Names of fields, in lower case, that tell one call from the next and not one answer from another: calls share
  /// though they differ in them. What is sent is what the call has that began. Default: ``standardPerCallFields``.
  public var perCallFields: Set<String> = CoalescingLimits.standardPerCallFields

  /// The defaults.
  public init() {}

  /// The fields by which calls are traced (`traceparent` and its like) or numbered (`x-request-id` and its like).
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
