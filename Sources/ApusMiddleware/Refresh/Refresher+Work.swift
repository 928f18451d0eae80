import ApusCore
import Synchronization

extension Refresher {
  /// How a refresh ended, and what it failed with.
  private enum End: Sendable {
    case replaced
    /// For a session that is over, the generation there is since.
    case failed(RefreshState.Failure, UInt64?, any Error)
  }

  /// What a refresh needs while it runs.
  private struct Running: Sendable {
    let flight: RefreshState.Flight
    let refresh: Refresh
    let clock: any MonotonicClock
    let subject: RefreshSubject
  }

  /// Begins a refresh in a task that belongs to no call, so that no call's end ends it.
  func begin(_ flight: RefreshState.Flight, for subject: RefreshSubject) {
    guard let credential = subject.stored.credential else {
      let end = End.failed(.passing, nil, RefreshFailure.unknown)
      return finish(flight, with: end, of: subject.stored.principal, at: subject.context.now)
    }
    let context = subject.context
    context.record(.note("refreshes the credentials of generation", Int64(clamping: flight.generation)))
    let refresh = Refresh(credential, context.sharedClient, ServerClock(context.clock))
    let running = Running(flight: flight, refresh: refresh, clock: context.clock, subject: subject)
    context.spawnDetached { await self.run(running) }
  }

  private func run(_ running: Running) async {
    await withTaskGroup(of: End?.self) { group in
      group.addTask { await self.renew(running) }
      func limit() {
        let deadline = running.clock.now.advanced(by: self.limit)
        group.addTask {
          try? await running.clock.sleep(until: deadline)
          return nil
        }
      }
      limit()
      var isOverdue = false
      for await end in group {
        if let end {
          finish(running.flight, with: end, of: running.subject.stored.principal, at: running.clock.now)
          // What follows is the end of the limit's task.
          return group.cancelAll()
        } else if isOverdue {
          group.cancelAll()
        } else {
          // The server may have answered, and take the old tokens no more: nobody waits any longer, and what comes is
          // stored all the same.
          isOverdue = true
          overdue(running.flight)
          limit()
        }
      }
    }
  }

  private func overdue(_ flight: RefreshState.Flight) {
    tell { shared in
      let failure = Failure(generation: flight.generation, principal: nil, error: RefreshFailure.overdue)
      if shared.state.flights.contains(flight) { shared.failure = failure }
      return (shared.state.overdue(flight), .failed(failure))
    }
  }

  private func finish(
    _ flight: RefreshState.Flight, with end: End, of principal: UInt64, at now: MonotonicInstant
  ) {
    tell { shared in
      switch end {
      case .replaced:
        if shared.failure?.generation == flight.generation { shared.failure = nil }
        return (shared.state.ended(flight, with: .replaced, now: now).0, .look)
      case .failed(let kind, let next, let error):
        let failure = Failure(generation: flight.generation, principal: principal, error: error, next: next)
        if shared.state.flights.contains(flight) { shared.failure = failure }
        return (shared.state.ended(flight, with: .failed(kind), now: now).0, .failed(failure))
      }
    }
  }

  /// Gets new tokens and stores them, unless somebody was quicker: who signed in, another client or another process.
  private func renew(_ running: Running) async -> End {
    let generation = running.flight.generation
    let end = Mutex(End.replaced)
    do {
      try await source.exclusively {
        guard try await self.source.current().generation == generation else { return }
        let result = try await self.replace(running)
        end.withLock { $0 = result }
      }
      return end.withLock { $0 }
    } catch {
      // The store's own error, or that of waiting for it.
      return .failed(.passing, nil, RefreshFailure.shown(error))
    }
  }

  private func replace(_ running: Running) async throws -> End {
    let generation = running.flight.generation
    let tokens: Tokens
    if let kept = unstored(of: generation, at: running.clock.now) {
      tokens = kept
    } else {
      do {
        tokens = try await new(running)
      } catch {
        return try await failed(running, error)
      }
      shared.withLock { $0.unstored = (generation, tokens, running.clock.now) }
    }
    _ = try await source.refresh(generation, to: .tokens(tokens))
    shared.withLock { if $0.unstored?.generation == generation { $0.unstored = nil } }
    return .replaced
  }

  /// What was got before and could not be stored; the server may not give it twice.
  private func unstored(of generation: UInt64, at now: MonotonicInstant) -> Tokens? {
    guard let kept = shared.withLock({ $0.unstored }), kept.generation == generation else { return nil }
    return kept.tokens.aged(by: kept.since.duration(to: now))
  }

  private func new(_ running: Running) async throws -> Tokens {
    let asked = running.clock.now
    var tokens = try await RefreshWork.mark(self) { try await work(running.refresh) }
    // A server that gives no new refresh token means the old one to stay (RFC 6749 §6).
    if tokens.refresh == nil, case .tokens(let old) = running.refresh.credential { tokens.refresh = old.refresh }
    // What cannot be sent must not take the place of what can be refreshed again.
    guard (try? Credential.tokens(tokens).checkedToken()) != nil else {
      throw TransportError(
        .malformedResponse, requestState: .notSent, detail: "the refresh gave a token that cannot be sent")
    }
    // The server counted from when it made them, at the earliest from when it was asked.
    return tokens.aged(by: asked.duration(to: running.clock.now))
  }

  private func failed(_ running: Running, _ error: any Error) async throws -> End {
    let generation = running.flight.generation
    // Somebody signed in or out meanwhile: that counts, and not what became of the old credentials.
    guard try await source.current().generation == generation else { return .replaced }
    guard RefreshRefusal.isLasting(error) else { return .failed(.passing, nil, RefreshFailure.shown(error)) }
    do {
      guard try await source.refresh(generation, to: nil) else { return .replaced }
    } catch {
      // Where they cannot be removed they are not asked with again as long as this process runs.
    }
    // Who has signed in by now has a session of its own to hear of.
    let stored = try? await source.current()
    let next = stored.flatMap { $0.credential == nil ? $0.generation : nil } ?? generation
    running.subject.ended(next: next)
    return .failed(.lasting, next, RefreshFailure.over(error))
  }
}

extension Tokens {
  /// The same some time later.
  fileprivate func aged(by time: Duration) -> Tokens {
    var tokens = self
    tokens.lifetime = lifetime.map { max(.zero, $0 - time) }
    return tokens
  }
}
