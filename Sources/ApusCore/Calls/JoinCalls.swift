import HTTPTypes
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Lets calls with one id and one message share one exchange.
///
/// It stands inside the total deadline: each call keeps its own. What is shared is the message with its
/// content in memory; each call judges and decodes it for itself. Calls of different environments or of different
/// credentials never share; neither do calls whose content is a stream, which cannot be compared.
final class JoinCalls: Middleware {
  private struct Key: Hashable {
    enum Content: Hashable {
      case empty
      case bytes(Data)
      case file(ContentFile)
    }

    let id: CallID
    let environment: ObjectIdentifier
    let principal: UInt64?
    let head: HTTPRequest
    let content: Content
  }

  private final class Flight: Sendable {
    /// The call that began it.
    let leader: Call
    let state = Mutex(FlightState<CheckedContinuation<ResponseMessage, any Error>>())
    let task = Mutex<Task<Void, Never>?>(nil)

    init(leader: Call) {
      self.leader = leader
    }

    /// Takes another call in; `false` when nobody waits any more.
    func expect(_ serial: UInt64) -> Bool {
      state.withLock { state in
        guard state.expect(serial) else { return false }
        // From now on the end of the call that began it does not end the exchange.
        leader.shareExchange()
        return true
      }
    }
  }

  private let flights = Mutex<[Key: Flight]>([:])
  private let spawner: TaskSpawner

  init(spawner: TaskSpawner) {
    self.spawner = spawner
  }

  func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard context.delivery == .buffered, let key = try await key(of: request, context) else {
      return try await next(request, context: context)
    }
    let serial = context.call.serial
    let (flight, isNew) = flights.withLock { flights -> (Flight, Bool) in
      if let running = flights[key], running.expect(serial) { return (running, false) }
      let flight = Flight(leader: context.call)
      _ = flight.state.withLock { $0.expect(serial) }
      flights[key] = flight
      return (flight, true)
    }
    if isNew {
      // No single caller's deadline binds what all of them wait for.
      let shared = context.shared()
      start(flight, key) { try await next(request, context: shared) }
    } else {
      context.record(.joined(serial: flight.leader.serial))
    }
    let response = try await wait(for: flight, serial: serial)
    // The head and the size reached the first call's state only.
    if !isNew { context.headArrived(response.head) }
    return response
  }

  /// What calls must have in common to share; `nil` for one that shares with nobody.
  private func key(of request: RequestMessage, _ context: CallContext) async throws -> Key? {
    let content: Key.Content
    switch request.content {
    case .empty: content = .empty
    case .bytes(let data): content = .bytes(data)
    case .file(let file): content = .file(file)
    case .stream: return nil
    }
    return Key(
      id: context.id, environment: ObjectIdentifier(context.call.prepared), principal: try await context.principal(),
      head: request.head, content: content)
  }

  private func start(
    _ flight: Flight, _ key: Key, _ exchange: @escaping @Sendable () async throws -> ResponseMessage
  ) {
    let task = spawner.spawn {
      let result: Result<ResponseMessage, any Error>
      do {
        result = .success(try await exchange())
      } catch {
        result = .failure(error)
      }
      self.flights.withLock { if $0[key] === flight { $0[key] = nil } }
      for waiter in flight.state.withLock({ $0.complete(result) }) { waiter.resume(with: result) }
    }
    flight.task.withLock { $0 = task }
  }

  private func wait(for flight: Flight, serial: UInt64) async throws -> ResponseMessage {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { waiter in
        let joining = flight.state.withLock { $0.wait(waiter, id: serial) }
        if case .resume(let waiter, let result) = joining { waiter.resume(with: result) }
      }
    } onCancel: {
      let (waiter, isAbandoned) = flight.state.withLock { $0.leave(serial) }
      if isAbandoned { flight.task.withLock { $0 }?.cancel() }
      waiter?.resume(throwing: CancellationError())
    }
  }
}
