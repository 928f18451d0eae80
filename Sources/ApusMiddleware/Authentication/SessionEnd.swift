public import ApusCore
import Synchronization

/// The end of a session: the credentials of a sign-in are unusable.
///
/// | event | `onSessionEnd` | ``CallError/sessionEnd`` of the call |
/// |---|---|---|
/// | a server rejected a refresh permanently | ``Reason/expired``, once | ``Reason/expired`` |
/// | a server responds 401 to credentials that cannot be refreshed, or were just refreshed | ``Reason/rejected``, once | ``Reason/rejected`` |
/// | ``Client/signOut()`` | ``Reason/signedOut``, once | |
/// | the store was cleared by other means, and a server requires credentials | ``Reason/signedOut``, once | ``Reason/signedOut`` |
/// | the call waited until another account signed in, or its own account signed out | | ``Reason/signedOut`` |
/// | there was never a sign-in, and a server requires credentials | | ``Reason/neverSignedIn`` |
/// | a server responds 401 to credentials that were replaced in the meantime, or that the call set itself | | `nil` |
///
/// The end of a session is reported once: neither a later sign-out nor calls that are rejected while signed out report
/// it again.
public struct SessionEnd: Sendable, Hashable {
  /// The reason for the end of a session.
  public enum Reason: Sendable, Hashable, CaseIterable {
    /// A refresh was rejected permanently.
    case expired
    /// A server rejected the credentials, which could not be refreshed or had just been refreshed.
    case rejected
    /// The user signed out.
    case signedOut
    /// There was never a session. Only errors have this reason: no session has ended.
    case neverSignedIn
  }

  /// The reason.
  public let reason: Reason
  /// The origin of the server.
  public let origin: Origin
  /// The name of the environment.
  public let environment: String
  /// The scheme of the authentication, for example `Bearer`; `nil` for a scheme without a name.
  package let scheme: String?
  /// The first call that detected the end of the session; `nil` for a sign-out.
  package let call: CallID?
  /// The generation of the session's last credentials, see ``StoredCredential/generation``.
  package let generation: UInt64
}

extension SessionEnd.Reason {
  /// The trace event of a call that detected the end of the session.
  var note: TraceNote {
    switch self {
    case .expired: "session expired, generation"
    case .rejected: "session rejected, generation"
    case .signedOut: "signed out, generation"
    case .neverSignedIn: "never signed in, generation"
    }
  }

  /// Reads the reason from the latest event of a trace that reports a session's end; `nil` if there is no such event.
  init?(_ trace: Trace) {
    for event in trace.events.reversed() {
      guard case .note(let note, _) = event.kind, let reason = Self.allCases.first(where: { $0.note == note }) else {
        continue
      }
      self = reason
      return
    }
    return nil
  }
}

extension Client {
  /// Signs out of the environment: clears the stores of all its credentials, its cookies, and what the client's cache
  /// stores for the account. A fixed token or key, which has no store, remains.
  ///
  /// Waiting calls are no longer sent and end with ``PrincipalChangedError``: calls that wait for a refresh end
  /// immediately, all other calls when they would be sent. Open streams end with the same error. The result of a
  /// refresh under way is discarded. Calls that have been sent get their responses; to avoid that, cancel them
  /// (``CallRegistry/cancelAll()``). The end of the session is reported once.
  ///
  /// - Throws: the error of the first store, or of the first file of cookies, that could not be cleared; its content may
  ///   still exist. The others are cleared nevertheless.
  public func signOut() async throws {
    var failure = await endSession()
    for authentication in environment.authentications {
      do {
        let before = try? await authentication.read()
        try await authentication.parts.store.clear()
        authentication.parts.spaces.removeAll()
        await authentication.parts.streams.endOutdated()
        let next = try await authentication.parts.store.current().generation
        authentication.parts.refresher?.replaced(by: next)
        // A fixed credential is not removed.
        guard let before, before.credential != nil, before.generation != next,
          let origin = environment.baseURL.origin
        else { continue }
        let end = SessionEnd(
          reason: .signedOut, origin: origin, environment: environment.name, scheme: authentication.parts.scheme.name,
          call: nil, generation: before.generation)
        for case let middleware as AuthenticationMiddleware in parts.pipeline.middlewares {
          middleware.report(end, upTo: next, of: authentication)
        }
      } catch {
        failure = failure ?? error
      }
    }
    let left = await endSession()
    if let failure = failure ?? left { throw failure }
  }

  /// Removes the data that middlewares keep of the environment's session. Returns the first error.
  private func endSession() async -> (any Error)? {
    var failure: (any Error)?
    for case let middleware as any SessionKeeping in parts.pipeline.middlewares {
      do {
        try await middleware.signedOut(of: environment)
      } catch {
        failure = failure ?? error
      }
    }
    return failure
  }
}

extension CallError {
  /// The reason why the call has no session; `nil`: the call failed for another reason. See the table of
  /// ``SessionEnd``.
  ///
  /// The reason is also `nil` for a call that joined the request of another call and was rejected; its ``status`` is
  /// 401.
  public var sessionEnd: SessionEnd.Reason? {
    switch code {
    case .refused:
      if underlying is PrincipalChangedError { return .signedOut }
      if let underlying, RefreshRejection.isPermanent(underlying) { return .expired }
      return SessionEnd.Reason(trace)
    case .rejected where status == 401: return SessionEnd.Reason(trace)
    default: return nil
    }
  }

  /// Whether the call failed because its session is over, so that the user must sign in again.
  public var isSessionOver: Bool { sessionEnd.map { $0 != .neverSignedIn } ?? false }
}

/// The reason why a call was not sent: its account has signed out, or another account has signed in.
///
/// It is the ``CallError/underlying`` error of such a call, whose code is `refused`. No part of the call was sent with
/// the credentials of the other account. ``CallError/requestState`` states whether an earlier attempt was sent.
public struct PrincipalChangedError: Error, Sendable, Hashable {
  /// Creates an error.
  public init() {}

  /// The error of an attempt, redirect hop or replay that is not sent.
  static var error: TransportError {
    TransportError(
      .refused, requestState: .notSent, detail: "the account that the call was made for is no longer signed in",
      underlying: PrincipalChangedError()
    ).attributed(to: .credentials)
  }
}

/// The open streamed responses of one authentication. They end when their principal signs out.
final class OpenStreams: Sendable {
  private struct Stream {
    let principal: UInt64
    let interrupt: @Sendable (any Error) -> Void
    let context: CallContext
  }

  private struct State {
    var streams: [UInt64: Stream] = [:]
    var next: UInt64 = 0
    var observation: UInt64?
  }

  private let store: any CredentialsStore
  private let state = Mutex(State())
  /// The number of streams, readable without the lock.
  private let count = Atomic(0)

  init(of store: any CredentialsStore) {
    self.store = store
  }

  /// Ends a response's content when its principal signs out, unless the content has ended before.
  func add(_ content: ResponseContent, of principal: UInt64, _ context: CallContext) async {
    let number = state.withLock { state in
      state.next += 1
      let stream = Stream(principal: principal, interrupt: content.discardAction, context: context)
      state.streams[state.next] = stream
      if state.observation == nil {
        state.observation = store.principalChanges?.observe { [weak self] in self?.storeChanged() }
      }
      return state.next
    }
    count.add(1, ordering: .relaxed)
    content.onEnd { [weak self] _ in self?.remove(number) }
    // The principal may have signed out before the observation began.
    await endOutdated()
  }

  private func remove(_ number: UInt64) {
    let (stream, observation) = state.withLock { state in
      let stream = state.streams.removeValue(forKey: number)
      guard state.streams.isEmpty else { return (stream, nil as UInt64?) }
      defer { state.observation = nil }
      return (stream, state.observation)
    }
    if stream != nil { count.subtract(1, ordering: .relaxed) }
    if let observation { store.principalChanges?.remove(observation) }
  }

  private func storeChanged() {
    guard let context = state.withLock({ $0.streams.values.first?.context }) else { return }
    context.spawnDetached { await self.endOutdated() }
  }

  /// Ends outdated streams after a read of the store that returned a principal.
  func storeReturned(_ principal: UInt64) async {
    guard count.load(ordering: .relaxed) > 0 else { return }
    if state.withLock({ $0.streams.values.contains { $0.principal != principal } }) { await endOutdated() }
  }

  /// Ends the streams of principals that are no longer signed in.
  func endOutdated() async {
    // Streams that are opened during the read may belong to a principal that the read does not return yet.
    let streams = state.withLock { Array($0.streams.values) }
    guard !streams.isEmpty, let now = try? await store.current() else { return }
    for stream in streams where stream.principal != now.principal {
      var error = PrincipalChangedError.error
      error.requestState = .responded
      stream.interrupt(error)
    }
  }
}
