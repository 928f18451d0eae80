public import ApusCore
import Synchronization

/// A credentials store in memory.
///
/// ```swift
/// let tokens = MemoryCredentialsStore()
/// var environment = Environment(baseURL: "https://api.example.com/v1")
/// environment.authentication = .bearer(tokens)
/// tokens.set(token: "mF_9.B5f-4.1JqM")  // sign-in: the next call carries it
/// tokens.clear()                        // sign-out: no call does, see also `client.signOut()`
/// ```
public final class MemoryCredentialsStore: RefreshableCredentialsStore, CustomReflectable {
  private struct State {
    var credential: Credential?
    /// The account, if the app has named it.
    var account: String?
    var generation: UInt64 = 0
    var principal: UInt64 = 0
    var since: MonotonicInstant

    /// - Parameter isSameAccount: whether the new credentials are of the same account.
    mutating func replace(by credential: Credential?, since now: MonotonicInstant, isSameAccount: Bool) {
      self.credential = credential
      generation += 1
      since = now
      guard !isSameAccount else { return }
      principal += 1
      account = nil
    }
  }

  private let state: Mutex<State>
  private let clock: any MonotonicClock
  private let mutex = AsyncMutex()
  /// Notifies of sign-ins and sign-outs.
  public let principalChanges: PrincipalChangeNotifier? = PrincipalChangeNotifier()

  /// Creates a store with credentials; `nil`, the default: signed out.
  ///
  /// - Parameter clock: measures the age of tokens whose lifetime is known. Default: ``SystemClock``.
  public init(_ credential: Credential? = nil, clock: any MonotonicClock = SystemClock()) {
    state = Mutex(State(credential: credential, since: clock.now))
    self.clock = clock
  }

  /// Creates a store with a token.
  public convenience init(token: String) {
    self.init(.token(Secret(token)))
  }

  /// The current credentials.
  public func current() -> StoredCredential {
    state.withLock { state in
      var remaining: Duration?
      if case .tokens(let tokens)? = state.credential, let lifetime = tokens.lifetime {
        remaining = lifetime - state.since.duration(to: clock.now)
      }
      var stored = StoredCredential(
        state.credential, generation: state.generation, principal: state.principal, remaining: remaining)
      stored.account = state.account
      return stored
    }
  }

  /// Replaces the credentials at a sign-in.
  ///
  /// Calls that were made before and have not been sent yet end with ``PrincipalChangedError``. An app that renews the
  /// tokens of one account by itself uses ``set(_:account:)``.
  public func set(_ credential: Credential) {
    signIn(with: credential)
  }

  /// Replaces the credentials with those of a named account.
  ///
  /// If the current credentials were set for the same account, the principal stays the same: waiting calls are sent
  /// with the new credentials. Otherwise this is a sign-in, as with `set(_:)`.
  ///
  /// - Parameter account: the name of the account, for example its id.
  public func set(_ credential: Credential, account: String) {
    signIn(with: credential, account: account)
  }

  /// Replaces the credentials with a token, at a sign-in.
  public func set(token: String) {
    signIn(with: .token(Secret(token)))
  }

  /// Replaces the credentials with tokens that can be refreshed, at a sign-in.
  public func set(_ tokens: Tokens) {
    signIn(with: .tokens(tokens))
  }

  /// Removes the credentials.
  public func clear() {
    signIn(with: nil)
  }

  /// Replaces or removes the credentials of a generation, if that generation is still current.
  public func refresh(_ generation: UInt64, to credential: Credential?) -> Bool {
    let isReplaced = state.withLock { state in
      guard state.generation == generation else { return false }
      state.replace(by: credential, since: clock.now, isSameAccount: credential != nil)
      return true
    }
    if isReplaced, credential == nil { principalChanges?.notify() }
    return isReplaced
  }

  /// Does work while no other caller refreshes the credentials of this object. Callers wait in order of arrival.
  ///
  /// - Throws: the error of `work`; `CancellationError` when the task is cancelled while it waits.
  public func withLock(_ work: @Sendable () async throws -> Void) async throws {
    try await mutex.withLock(work)
  }

  private func signIn(with credential: Credential?, account: String? = nil) {
    state.withLock { state in
      let isSame = account != nil && state.credential != nil && state.account == account
      state.replace(by: credential, since: clock.now, isSameAccount: isSame)
      state.account = account
    }
    principalChanges?.notify()
  }

  /// An empty mirror.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
