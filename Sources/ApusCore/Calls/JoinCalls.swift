import Synchronization

/// Lets calls share one exchange: those with one id and one message, and those that ask for the same
/// (``Endpoint/coalesced(_:)``).
///
/// It stands inside the total deadline: each call keeps its own. What is shared is the message with its
/// content in memory; each call judges and decodes it for itself. Calls of different environments or of different
/// credentials never share; neither do calls whose content is a stream, which cannot be compared.
final class JoinCalls: Middleware {
  private typealias Table = FlightTable<FlightKey, Flight>

  private let table = Mutex(FlightTable<FlightKey, Flight>())
  private let spawner: TaskSpawner
  let limits: CoalescingLimits

  init(spawner: TaskSpawner, limits: CoalescingLimits) {
    self.spawner = spawner
    self.limits = limits
  }

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard context.delivery == .buffered, let key = FlightKey(request, context, limits) else {
      return try await next(request, context: context)
    }
    switch enter(key, context) {
    case .alone: return try await next(request, context: context)
    case .joined(let flight): return try await join(flight, context)
    case .began(let flight, _):
      // No single caller's deadline binds what all of them wait for.
      let shared = context.shared(by: flight.sharers)
      start(flight, key) { try await next(request, context: shared) }
      return try await flight.wait(context.call.serial)
    }
  }

  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
  private func enter(_ key: FlightKey, _ context: CallContext) -> Table.Entry {
    let call = context.call
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
      let response = try await flight.wait(context.call.serial)
      context.takeAttempts(of: flight.leader)
      context.headArrived(response.head)
      return response
    } catch {
      context.takeAttempts(of: flight.leader)
      throw error
    }
  }

  private func start(
    _ flight: Flight, _ key: FlightKey, _ exchange: @escaping @Sendable () async throws -> ResponseMessage
  ) {
    let task = spawner.spawnShared {
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
