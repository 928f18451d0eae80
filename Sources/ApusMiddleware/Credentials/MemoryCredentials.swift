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
    /// Whose they are, where the app has said so.
    var account: String?
    var generation: UInt64 = 0
    var principal: UInt64 = 0
    var since: MonotonicInstant

    /// - Parameter keepsPrincipal: whether they belong to whom the old ones did.
    mutating func replace(by credential: Credential?, since now: MonotonicInstant, keepsPrincipal: Bool) {
      self.credential = credential
      generation += 1
      since = now
      guard !keepsPrincipal else { return }
      principal += 1
      account = nil
    }
  }

  private let state: Mutex<State>
  private let clock: any MonotonicClock
  private let turns = Turns()
  /// Tells who wants to know of sign-ins and sign-outs.
  public let principalChanges: PrincipalChanges? = PrincipalChanges()

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

  /// Replaces the credentials: somebody has signed in.
  ///
  /// Calls that were made before and have not been sent yet end with ``PrincipalChanged``. An app that renews the tokens
  /// of one account by itself uses ``set(_:account:)``.
  public func set(_ credential: Credential) {
    signIn(with: credential)
  }

  /// Replaces the credentials by those of an account.
  ///
  /// Where the present credentials were set for the same account, the principal stays the same: calls that wait go out
  /// with the new ones. Otherwise somebody has signed in, as with ``set(_:)``.
  ///
  /// - Parameter account: names the account, for example by its id.
  public func set(_ credential: Credential, account: String) {
    signIn(with: credential, account: account)
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
    let isReplaced = state.withLock { state in
      guard state.generation == generation else { return false }
      state.replace(by: credential, since: clock.now, keepsPrincipal: credential != nil)
      return true
    }
    if isReplaced, credential == nil { principalChanges?.notify() }
    return isReplaced
  }

  /// Does work while nobody else who shares this object refreshes its credentials, in the order in which they came.
  ///
  /// - Throws: what `work` throws; `CancellationError` when the task is cancelled while it waits.
  public func exclusively(_ work: @Sendable () async throws -> Void) async throws {
    try await turns.exclusively(work)
  }

  private func signIn(with credential: Credential?, account: String? = nil) {
    let isSame = state.withLock { state in
      let isSame = account != nil && state.credential != nil && state.account == account
      state.replace(by: credential, since: clock.now, keepsPrincipal: isSame)
      state.account = account
      return isSame
    }
    if !isSame { principalChanges?.notify() }
  }

  /// Shows nothing.
  public var customMirror: Mirror { Mirror(self, children: []) }
}
