public import ApusCore
import Synchronization

/// Keeps credentials in memory, as long as the process runs.
///
/// ```swift
/// let tokens = MemoryCredentials()
/// var environment = Environment(baseURL: "https://api.example.com/v1")
/// environment.authentication = .bearer(tokens)
/// tokens.set(token: "mF_9.B5f-4.1JqM")  // signed in: the next call carries it
/// tokens.clear()                        // signed out: none does, see also `client.signOut()`
/// ```
public final class MemoryCredentials: RefreshableCredentialSource, CustomReflectable {
  private struct State {
    var credential: Credential?
    var generation: UInt64 = 0
    var principal: UInt64 = 0
    var since: MonotonicInstant

    mutating func replace(by credential: Credential?, since now: MonotonicInstant) {
      self.credential = credential
      generation += 1
      since = now
    }
  }

  private let state: Mutex<State>
  private let clock: any MonotonicClock
  private let turns = Turns()

  /// Starts with credentials, or signed out.
  ///
  /// - Parameter clock: tells how old tokens are whose lifetime is known. Default: ``SystemClock``.
  public init(_ credential: Credential? = nil, clock: any MonotonicClock = SystemClock()) {
    state = Mutex(State(credential: credential, since: clock.now))
    self.clock = clock
  }

  /// Starts with a token.
  public convenience init(token: String) {
    self.init(.token(Secret(token)))
  }

  /// The credentials there are now.
  public func current() -> StoredCredential {
    state.withLock { state in
      var remaining: Duration?
      if case .tokens(let tokens)? = state.credential, let lifetime = tokens.lifetime {
        remaining = lifetime - state.since.duration(to: clock.now)
      }
      return StoredCredential(
        state.credential, generation: state.generation, principal: state.principal, remaining: remaining)
    }
  }

  /// Replaces the credentials.
  public func set(_ credential: Credential) {
    signIn(with: credential)
  }

  /// Replaces the credentials by a token.
  public func set(token: String) {
    signIn(with: .token(Secret(token)))
  }

  /// Replaces the credentials by tokens that can be refreshed.
  public func set(_ tokens: Tokens) {
    signIn(with: .tokens(tokens))
  }

  /// Removes the credentials.
  public func clear() {
    signIn(with: nil)
  }

  /// Replaces the credentials of a generation, or removes them, if it is still there.
  public func refresh(_ generation: UInt64, to credential: Credential?) -> Bool {
    state.withLock { state in
      guard state.generation == generation else { return false }
      state.replace(by: credential, since: clock.now)
      if credential == nil { state.principal += 1 }
      return true
    }
  }

  /// Does work while nobody else who shares this object refreshes its credentials, in the order in which they came.
  ///
  /// - Throws: what `work` throws; `CancellationError` when the task is cancelled while it waits.
  public func exclusively(_ work: @Sendable () async throws -> Void) async throws {
    try await turns.exclusively(work)
  }

  private func signIn(with credential: Credential?) {
    state.withLock { state in
      state.replace(by: credential, since: clock.now)
      state.principal += 1
    }
  }

  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
