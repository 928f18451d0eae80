import ApusCore
import Synchronization

extension Refresher {
  /// The end of a refresh.
  private enum End: Sendable {
    case replaced
    /// With the current generation, if the session is over.
    case failed(RefreshState.Failure, UInt64?, any Error)
  }

  /// A refresh under way.
  private struct Running: Sendable {
    let flight: RefreshState.Flight
    let refresh: RefreshContext
    let clock: any MonotonicClock
    let subject: RefreshSubject
  }

  /// Starts a refresh in a task that belongs to no call, so that the end of a call does not cancel it.
  func begin(_ flight: RefreshState.Flight, for subject: RefreshSubject) {
    guard let credential = subject.stored.credential else {
      let end = End.failed(.passing, nil, RefreshFailure.unknown)
      return finish(flight, with: end, of: subject.stored.principal, at: subject.context.now)
    }
    let context = subject.context
    context.record(.note("refreshes the credentials of generation", Int64(clamping: flight.generation)))
    let refresh = RefreshContext(credential, context.sharedClient, ServerClock(context.clock))
    watch(context)
    let running = Running(flight: flight, refresh: refresh, clock: context.clock, subject: subject)
    context.spawnDetached {
      await self.run(running)
      self.unwatch()
    }
  }

  private func run(_ running: Running) async {
    await withTaskGroup(of: End?.self) { group in
      group.addTask { await self.renew(running) }
      func limit() {
        let deadline = running.clock.now.advanced(by: self.limit)
        group.addTask {
          try? await running.clock.sleepUntilLimit(deadline)
          return nil
        }
      }
      limit()
      var isOverdue = false
      for await end in group {
        if let end {
          finish(running.flight, with: end, of: running.subject.stored.principal, at: running.clock.now)
          // The only other task is the timer of the limit.
          return group.cancelAll()
        } else if isOverdue {
          group.cancelAll()
        } else {
          // The server may have issued tokens and invalidated the old ones: calls stop waiting, but the result is still
          // stored. After the same time again the refresh is given up, and its lease with it.
          isOverdue = true
          overdue(running.flight)
          limit()
        }
      }
    }
  }

  private func overdue(_ flight: RefreshState.Flight) {
    resolve { shared in
      let failure = Failure(generation: flight.generation, principal: nil, error: RefreshFailure.overdue)
      if shared.state.flights.contains(flight) { shared.failure = failure }
      return (shared.state.overdue(flight), .failed(failure))
    }
  }

  private func finish(
    _ flight: RefreshState.Flight, with end: End, of principal: UInt64, at now: MonotonicInstant
  ) {
    resolve { shared in
      shared.settling.remove(flight.number)
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

  /// Gets new tokens and stores them, unless the credentials were replaced in the meantime by a sign-in, another client
  /// or another process.
  private func renew(_ running: Running) async -> End {
    let generation = running.flight.generation
    let end = Mutex(End.replaced)
    do {
      // Before the observation of the store began.
      guard try await source.current().generation == generation else { return .replaced }
      try await source.withLock {
        guard try await self.source.current().generation == generation else { return }
        let result = try await self.replace(running)
        end.withLock { $0 = result }
      }
      return end.withLock { $0 }
    } catch {
      // An error of the store, or of waiting for its lease, or the refresh is given up.
      return .failed(.passing, nil, Task.isCancelled ? RefreshFailure.overdue : RefreshFailure.shown(error))
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
    settles(running.flight)
    _ = try await source.refresh(generation, to: .tokens(tokens))
    shared.withLock { if $0.unstored?.generation == generation { $0.unstored = nil } }
    return .replaced
  }

  /// Notes that a refresh changes the store itself.
  private func settles(_ flight: RefreshState.Flight) {
    _ = shared.withLock { $0.settling.insert(flight.number) }
  }

  /// Tokens that an earlier refresh could not store. The server may not issue them twice.
  private func unstored(of generation: UInt64, at now: MonotonicInstant) -> Tokens? {
    guard let kept = shared.withLock({ $0.unstored }), kept.generation == generation else { return nil }
    return kept.tokens.aged(by: kept.since.duration(to: now))
  }

  private func new(_ running: Running) async throws -> Tokens {
    let asked = running.clock.now
    // The store's lease must not depend on whether the app's code notices its cancellation.
    var tokens = try await DetachedWork.value(in: running.subject.context) {
      try await RefreshWork.mark(self) { try await self.work(running.refresh) }
    }
    if case .tokens(let old) = running.refresh.credential { tokens = tokens.keeping(old) }
    // A token that cannot be sent must not replace a token that can be refreshed again.
    guard (try? Credential.tokens(tokens).checkedToken()) != nil else {
      throw TransportError(
        .malformedResponse, requestState: .notSent, detail: "the refresh gave a token that cannot be sent")
    }
    // The lifetime counts from when the server issued the tokens, at the earliest from the request.
    return tokens.aged(by: asked.duration(to: running.clock.now))
  }

  private func failed(_ running: Running, _ error: any Error) async throws -> End {
    let generation = running.flight.generation
    // A sign-in or sign-out in the meantime counts, not the failure of the old credentials.
    guard try await source.current().generation == generation else { return .replaced }
    guard RefreshRejection.isLasting(error) else { return .failed(.passing, nil, RefreshFailure.shown(error)) }
    settles(running.flight)
    do {
      guard try await source.refresh(generation, to: nil) else { return .replaced }
    } catch {
      // If the store cannot remove the credentials, at least this process does not use them again.
    }
    // A new account's session is not over.
    let stored = try? await source.current()
    let next = stored.flatMap { $0.credential == nil ? $0.generation : nil } ?? generation
    running.subject.account.sessionEnded(running.subject, next: next)
    return .failed(.lasting, next, RefreshFailure.over(error))
  }
}

extension Tokens {
  /// The tokens with the remaining lifetime after some time has passed.
  fileprivate func aged(by time: Duration) -> Tokens {
    var tokens = self
    tokens.lifetime = lifetime.map { max(.zero, $0 - time) }
    return tokens
  }
}
