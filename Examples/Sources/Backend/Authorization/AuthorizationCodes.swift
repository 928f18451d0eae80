import Foundation
import Synchronization

/// The authorization codes of recent sign-ins. Each is valid for a minute and for one exchange.
///
/// Used codes are stored: a code that is used twice may have been stolen, so the session of its first use ends (RFC
/// 6749 §4.1.2).
final class AuthorizationCodes: Sendable {
  private let state: Mutex<AuthorizationCodeState>

  /// - Parameter capacity: the maximum number of codes; when it is exceeded, the oldest are removed. Default: 1,000.
  init(capacity: Int = 1000) {
    state = Mutex(AuthorizationCodeState(capacity: capacity))
  }

  /// Issues a code.
  func issue(for grant: AuthorizationGrant, at time: Date) -> OpaqueToken {
    let code = OpaqueToken.random()
    state.withLock { $0.add(code.hash, grant, at: time) }
    return code
  }

  /// Uses a code.
  func redeem(_ code: OpaqueToken, at time: Date) -> AuthorizationCodeState.Redemption {
    state.withLock { $0.redeem(code.hash, at: time) }
  }

  /// Records the session that a code was exchanged for.
  ///
  /// - Returns: whether the session is valid. If the code was used again in the meantime, the caller must end the
  ///   session.
  func exchanged(_ code: OpaqueToken, for session: Int64) -> Bool {
    state.withLock { $0.exchanged(code.hash, for: session) }
  }
}

/// The grant of a user on the sign-in page.
struct AuthorizationGrant: Sendable, Equatable {
  let account: Account
  let client: String
  /// The redirect of the sign-in, which the exchange must repeat.
  let redirect: String
  let challenge: String
}

/// The codes and their states, by the codes' hashes. A value without side effects.
struct AuthorizationCodeState {
  /// The result of using a code.
  enum Redemption: Equatable {
    case granted(AuthorizationGrant)
    /// The code was used before. The session of the first use must end; `nil` if it does not exist yet.
    case reused(session: Int64?)
    case unknown
  }

  private enum Use {
    case unused(AuthorizationGrant, expiry: Date)
    case used(session: Int64?)
    /// The code was used again before the session of the first use existed.
    case revoked
  }

  /// The time for which a code is valid, in seconds.
  static let lifetime = 60.0

  private let capacity: Int
  private var uses: [Data: Use] = [:]
  /// The codes, oldest first.
  private var order: [Data] = []

  init(capacity: Int) {
    self.capacity = max(1, capacity)
  }

  mutating func add(_ code: Data, _ grant: AuthorizationGrant, at time: Date) {
    if order.count >= capacity { uses[order.removeFirst()] = nil }
    order.append(code)
    uses[code] = .unused(grant, expiry: time.addingTimeInterval(Self.lifetime))
  }

  mutating func redeem(_ code: Data, at time: Date) -> Redemption {
    switch uses[code] {
    case nil, .revoked: return .unknown
    case .unused(let grant, let expiry):
      uses[code] = .used(session: nil)
      return time < expiry ? .granted(grant) : .unknown
    case .used(let session):
      if session == nil { uses[code] = .revoked }
      return .reused(session: session)
    }
  }

  mutating func exchanged(_ code: Data, for session: Int64) -> Bool {
    switch uses[code] {
    case .revoked: return false
    case .used: uses[code] = .used(session: session)
    case nil, .unused: break
    }
    return true
  }
}
