public import ApusCore
import Synchronization

/// A store of the credentials of one account. They are read for every attempt, replaced at sign-in and removed at
/// sign-out.
///
/// ``MemoryCredentialsStore`` holds them in memory. A custom store whose credentials are elsewhere should cache them: a
/// call waits for ``current()`` before each of its attempts.
public protocol CredentialsStore: Sendable {
  /// Returns the current credentials and their generation.
  ///
  /// - Throws: any error. The call then fails with `invalidRequest` and that error as its cause; nothing is sent.
  func current() async throws -> StoredCredential
  /// Replaces the credentials. The next attempt of any call carries the new credentials.
  func set(_ credential: Credential) async throws
  /// Removes the credentials. No later attempt carries them.
  func clear() async throws
  /// A notifier of credentials that were replaced or removed by other means than a refresh. With a notifier, a sign-out
  /// ends open streams immediately, and calls that wait for a refresh continue with the new credentials or end.
  /// Default: `nil`. The change is then noticed by ``Client/signOut()``, by the next call, and at the end of the
  /// refresh.
  var principalChanges: PrincipalChangeNotifier? { get }
}

extension CredentialsStore {
  /// `nil`.
  public var principalChanges: PrincipalChangeNotifier? { nil }
}

/// A store of credentials that can be refreshed, such as ``MemoryCredentialsStore``.
///
/// Make one ``Authentication`` for a store and use it in all clients. Several authentications with one store never
/// refresh at the same time, and each authentication reports the end of a session separately.
public protocol RefreshableCredentialsStore: CredentialsStore {
  /// Replaces or removes the credentials of a generation, if that generation is still current, in one atomic step: a
  /// sign-in or sign-out in the meantime wins.
  ///
  /// The principal stays the same unless the credentials are removed. When this returns, the change is as durable as
  /// the store can make it; calls that wait for the refresh continue only then.
  ///
  /// - Parameters:
  ///   - generation: the generation that was refreshed.
  ///   - credential: the new credentials; `nil`: the refresh failed permanently.
  /// - Returns: whether the generation was current; if not, nothing has changed.
  /// - Throws: any error. The new tokens are kept in memory, and stored with the next refresh.
  func refresh(_ generation: UInt64, to credential: Credential?) async throws -> Bool

  /// Performs work under the exclusive lease of these credentials. During the work no other client refreshes the
  /// credentials, nor does any other process that shares the store.
  ///
  /// A second refresher waits, reads the generation again and finds it replaced. If a process dies, its lease ends.
  ///
  /// The lease is not reentrant: work that acquires the lease again deadlocks. The work may read, replace and remove
  /// the credentials. A store that only one process uses can keep its credentials in a ``MemoryCredentialsStore`` as
  /// well, and use the lease of that store.
  ///
  /// - Throws: the error of `work`; `CancellationError` when the task is cancelled while it waits; errors of the store.
  func withLock(_ work: @Sendable () async throws -> Void) async throws
}

/// The content of a credentials store at one moment.
public struct StoredCredential: Sendable, Hashable {
  /// The credentials; `nil` when signed out.
  public let credential: Credential?
  /// A number that increases each time the credentials are replaced or removed. It may start at any value.
  public let generation: UInt64
  /// A number that identifies the account. It changes at sign-in and sign-out, not when credentials are refreshed, and
  /// is never used again. A call is bound to the account when the call begins, and is never sent with the credentials
  /// of another account.
  public let principal: UInt64
  /// The time for which the credentials remain valid; `nil`: unknown.
  public let remaining: Duration?
  /// The name of the account, as set with the credentials. Default: `nil`, no name.
  public var account: String?

  /// Creates a stored credential, for custom stores.
  ///
  /// - Parameters:
  ///   - credential: the credentials; `nil`: signed out.
  ///   - generation: the generation of the current credentials.
  ///   - principal: the number of the account. A store whose credentials are never refreshed may pass the generation:
  ///     calls that wait then end with ``PrincipalChangedError`` when the credentials are replaced.
  ///   - remaining: the time for which they remain valid. Default: `nil`, unknown.
  public init(_ credential: Credential?, generation: UInt64, principal: UInt64, remaining: Duration? = nil) {
    self.credential = credential
    self.generation = generation
    self.principal = principal
    self.remaining = remaining
  }
}

/// A notifier of sign-ins, sign-outs and replaced credentials. A custom ``CredentialsStore`` returns a notifier as its
/// ``CredentialsStore/principalChanges`` and calls ``notify()``.
public final class PrincipalChangeNotifier: Sendable {
  typealias Action = @Sendable () -> Void

  private struct State {
    var actions: [UInt64: Action] = [:]
    var next: UInt64 = 0
  }

  private let state = Mutex(State())

  /// Creates an instance without observers.
  public init() {}

  /// Notifies all observers that credentials were set or removed. Call it once the store returns the new credentials,
  /// outside its locks. Extra calls are harmless.
  public func notify() {
    let actions = state.withLock { Array($0.actions.values) }
    for action in actions { action() }
  }

  /// Adds an observer, which must be quick.
  ///
  /// - Returns: a number for ``remove(_:)``.
  func observe(_ action: @escaping Action) -> UInt64 {
    state.withLock { state in
      state.next += 1
      state.actions[state.next] = action
      return state.next
    }
  }

  func remove(_ number: UInt64) {
    let removed = state.withLock { $0.actions.removeValue(forKey: number) }
    // Released outside the lock.
    withExtendedLifetime(removed) {}
  }
}

/// The identity of a credentials store, which several authentications may share.
struct StoreIdentity: Hashable {
  private let object: ObjectIdentifier

  /// - Parameter owner: the only owner of the store, whose identity is used if the store is a value. The identity is
  ///   valid as long as the owner and the store live.
  init(_ store: any CredentialsStore, elseOf owner: AnyObject) {
    object = ObjectIdentifier(type(of: store) is AnyClass ? store as AnyObject : owner)
  }
}

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

  /// Creates a store with credentials. Default: `nil`, signed out.
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

  /// Returns the current credentials.
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
  /// Calls that were made before and have not been sent yet end with ``PrincipalChangedError``. If the app renews the
  /// tokens of one account itself, use ``set(_:account:)``.
  public func set(_ credential: Credential) {
    signIn(with: credential)
  }

  /// Replaces the credentials with the credentials of a named account.
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

  /// Performs work while no other caller refreshes the credentials of this object. Callers wait in order of arrival.
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

/// A store of a credential that does not change: an API key, or the token of a service.
///
/// A sign-out does not remove the credential: the app could not set it again.
struct FixedCredential: CredentialsStore {
  private let credential: Credential

  init(_ credential: Credential) {
    self.credential = credential
  }

  func current() -> StoredCredential { StoredCredential(credential, generation: 0, principal: 0) }

  func set(_ credential: Credential) {}

  func clear() {}
}
