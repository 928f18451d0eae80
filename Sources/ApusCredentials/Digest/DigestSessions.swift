#if Credentials
  import ApusCore

  /// How many messages were sent with each nonce, and how strong the answers of each origin were: a pure state machine.
  ///
  /// No two messages with one of the last 256 nonces have that nonce and a count in common, which a server would take for a
  /// repeated message (RFC 7616 §3.4). Of more nonces the one that was not used for longest is forgotten, and would be
  /// counted from 1 again.
  ///
  /// A message takes its count when it is put together: one that is only described, or never sent, leaves a gap. Counts
  /// have to go up and need not follow each other; a server that asks for no gaps gives a new nonce for such a message.
  struct DigestSessions {
    /// A server's nonce. Another server's nonce that looks the same is another one.
    struct Key: Hashable {
      let origin: Origin?
      let nonce: String
    }

    private struct Session {
      var count: UInt32 = 0
      /// The client's nonce of the first message.
      let clientNonce: String
      var lastUse: UInt64 = 0
    }

    private let limit: Int
    private let mostUses: UInt32
    private var sessions: [Key: Session] = [:]
    private var uses: UInt64 = 0
    private var strengths: [Origin?: Int] = [:]

    /// Begins without any.
    ///
    /// - Parameters:
    ///   - limit: the most nonces that are remembered.
    ///   - mostUses: how often a nonce may be used; there is room for no higher count.
    init(limit: Int = 256, mostUses: UInt32 = .max) {
      self.limit = limit
      self.mostUses = mostUses
    }

    /// Takes the next count of a nonce.
    ///
    /// - Parameters:
    ///   - key: the server's nonce.
    ///   - clientNonce: a new one; it becomes the session's if this is the first message.
    ///   - staysInSession: whether the session's client nonce is needed for all of its messages.
    /// - Returns: what belongs to the message; `nil`: the nonce is used up.
    mutating func next(_ key: Key, clientNonce: String, staysInSession: Bool) -> DigestComputation.Protection? {
      var session = sessions[key] ?? Session(clientNonce: clientNonce)
      guard session.count < mostUses else { return nil }
      uses += 1
      session.count += 1
      session.lastUse = uses
      if sessions[key] == nil, sessions.count >= limit { forgetOne() }
      sessions[key] = session
      return DigestComputation.Protection(
        count: DigestText.hexadecimal(session.count), clientNonce: staysInSession ? session.clientNonce : clientNonce)
    }

    /// Whether a challenge may be answered: it is as strong as the strongest that was, for the same origin, or stronger.
    ///
    /// - Parameters:
    ///   - strength: the challenge's, see ``DigestChallenge/strength``.
    ///   - origin: who asks. Of more than 256 one is forgotten.
    mutating func admit(_ strength: Int, at origin: Origin?) -> Bool {
      if let known = strengths[origin] {
        guard strength >= known else { return false }
      } else if strengths.count >= limit {
        strengths.remove(at: strengths.startIndex)
      }
      strengths[origin] = strength
      return true
    }

    private mutating func forgetOne() {
      guard let oldest = sessions.min(by: { $0.value.lastUse < $1.value.lastUse }) else { return }
      sessions[oldest.key] = nil
    }
  }
#endif
