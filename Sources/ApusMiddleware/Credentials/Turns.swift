import Synchronization

/// Lets one task at a time do something, in the order in which they came.
///
/// It is what a ``RefreshableCredentialSource`` needs to do work exclusively: a turn may be held while a server is
/// asked, a lock may not.
public final class Turns: Sendable {
  private struct Shared {
    var state = TurnsState()
    var waiting: [TurnsState.Ticket: CheckedContinuation<Void, any Error>] = [:]
  }

  private let shared = Mutex(Shared())

  /// Nobody has the turn at first.
  public init() {}

  /// Does work while nobody else does any; waits for the turn first. The turn is given back however the work ends.
  ///
  /// Work that asks for another turn of the same ones waits for ever.
  ///
  /// - Returns: what `work` returns.
  /// - Throws: what `work` throws; `CancellationError` when the task is cancelled while it waits. A turn that is free
  ///   is given to a cancelled task as well: the work itself decides what that means.
  public func exclusively<Value>(_ work: () async throws -> Value) async throws -> Value {
    let ticket = try await turn()
    defer { leave(ticket) }
    return try await work()
  }

  private func turn() async throws -> TurnsState.Ticket {
    let (ticket, isFree) = shared.withLock { shared in
      let ticket = shared.state.enter()
      return (ticket, shared.state.holder == ticket)
    }
    if isFree { return ticket }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in wait(ticket, continuation) }
    } onCancel: {
      giveUp(ticket)
    }
    return ticket
  }

  private func wait(_ ticket: TurnsState.Ticket, _ continuation: CheckedContinuation<Void, any Error>) {
    let outcome: Result<Void, any Error>? = shared.withLock { shared in
      switch shared.state.place(of: ticket) {
      case .waits:
        shared.waiting[ticket] = continuation
        return nil
      case .hasTurn: return .success(())
      case .gone: return .failure(CancellationError())
      }
    }
    if let outcome { continuation.resume(with: outcome) }
  }

  private func giveUp(_ ticket: TurnsState.Ticket) {
    let continuation = shared.withLock { shared in
      shared.state.giveUp(ticket) ? shared.waiting.removeValue(forKey: ticket) : nil
    }
    continuation?.resume(throwing: CancellationError())
  }

  private func leave(_ ticket: TurnsState.Ticket) {
    let continuation = shared.withLock { shared in
      // One that has only just come to wait finds that it has the turn.
      shared.state.leave(ticket).flatMap { shared.waiting.removeValue(forKey: $0) }
    }
    continuation?.resume()
  }
}
