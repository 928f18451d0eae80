import ApusCore

/// The message counts and successors of nonces, and the strengths of origins. A pure state machine.
///
/// A response can state the nonce for the next message (`nextnonce`, RFC 7616 §3.5). The challenge stays the same, as
/// does the session of a session algorithm; only the nonce of its messages changes.
///
/// Among the last 256 nonces, no two messages have the same nonce and count, because a server would treat them as a
/// replay (RFC 7616 §3.4). Beyond 256, the least recently used nonce is removed, and would be counted from 1 again.
///
/// A message gets its count when it is created. A message that is only described, or never sent, leaves a gap: counts
/// must increase, but need not be consecutive. A server that requires consecutive counts sends a new nonce.
struct DigestSessions {
  /// The key of a nonce: equal nonces of different servers are different keys.
  struct Key: Hashable {
    let origin: Origin?
    let nonce: String
  }

  private struct Session {
    var count: UInt32 = 0
    /// The client nonce of the first message.
    let clientNonce: String
    /// The nonce that replaces this nonce of a challenge in messages.
    var successor: String?
    var lastUse: UInt64 = 0
  }

  /// The nonces and the count of a message.
  struct NonceUse: Hashable {
    /// The server's nonce.
    let nonce: String
    let protection: DigestComputation.Protection
  }

  private let limit: Int
  private let maximumUses: UInt32
  private var sessions: [Key: Session] = [:]
  private var uses: UInt64 = 0
  private var strengths: [Origin?: Int] = [:]

  /// Creates an empty state.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of stored nonces.
  ///   - maximumUses: the maximum number of uses of a nonce. The default is the maximum of the eight-digit count.
  init(limit: Int = 256, maximumUses: UInt32 = .max) {
    self.limit = limit
    self.maximumUses = maximumUses
  }

  /// Returns the next count of a nonce.
  ///
  /// - Parameters:
  ///   - key: the nonce of the challenge.
  ///   - clientNonce: a new client nonce. A session stores the client nonce of its first message.
  ///   - quality: the quality of protection.
  ///   - staysInSession: whether all messages of a session use its first client nonce.
  /// - Returns: the nonce and the protection of the message; `nil` if the nonce has reached its maximum count.
  mutating func next(
    _ key: Key, clientNonce: String, _ quality: DigestQuality = .auth, staysInSession: Bool
  ) -> NonceUse? {
    let first = touch(key, clientNonce)
    let current = Key(origin: key.origin, nonce: first.successor ?? key.nonce)
    let count = touch(current, clientNonce).count
    guard count < maximumUses else { return nil }
    sessions[current]?.count = count + 1
    let protection = DigestComputation.Protection(
      count: DigestText.hexadecimal(count + 1), clientNonce: staysInSession ? first.clientNonce : clientNonce,
      quality: quality)
    return NonceUse(nonce: current.nonce, protection: protection)
  }

  /// Stores the nonce for the next message; `nil` restores the nonce of the challenge.
  mutating func setSuccessor(of key: Key, to nonce: String?) {
    sessions[key]?.successor = nonce == key.nonce ? nil : nonce
  }

  /// Whether the client may respond to a challenge: it is at least as strong as every earlier challenge of the origin.
  ///
  /// - Parameters:
  ///   - strength: the challenge's ``DigestChallenge/strength``.
  ///   - origin: the origin of the server. Beyond 256 origins, an arbitrary origin is removed.
  mutating func admit(_ strength: Int, at origin: Origin?) -> Bool {
    if let known = strengths[origin] {
      guard strength >= known else { return false }
    } else if strengths.count >= limit {
      strengths.remove(at: strengths.startIndex)
    }
    strengths[origin] = strength
    return true
  }

  /// Returns the session of a nonce, and makes the session the most recently used session.
  private mutating func touch(_ key: Key, _ clientNonce: String) -> Session {
    if sessions[key] == nil, sessions.count >= limit { removeLeastRecentlyUsed() }
    uses += 1
    var session = sessions[key] ?? Session(clientNonce: clientNonce)
    session.lastUse = uses
    sessions[key] = session
    return session
  }

  private mutating func removeLeastRecentlyUsed() {
    guard let oldest = sessions.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
    sessions[oldest.key] = nil
  }
}
