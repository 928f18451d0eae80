#if Credentials
  /// What proves to a server that a message comes from somebody who knows the password (RFC 7616 §3.4.1 to §3.4.4).
  ///
  /// Pure: the same values give the same proof.
  struct DigestComputation {
    /// What belongs to a message where the server asks for the protection `auth`.
    struct Protection: Hashable {
      /// How many messages were sent with the server's nonce, this one included: eight hexadecimal digits.
      let count: String
      /// The client's own nonce.
      let clientNonce: String
    }

    let algorithm: DigestAlgorithm
    let realm: String
    /// The server's nonce.
    let nonce: String
    /// `nil`: the server asks for none, which is the form of RFC 2069.
    let protection: Protection?

    /// `H(A1)`: all that is needed of a name and a password.
    ///
    /// For a session's algorithm this is the session's key. It is made of the client's nonce of the session's first
    /// message, so every message of a session has to have that one.
    func key(user: String, password: String) -> String {
      let key = algorithm.hash("\(user):\(realm):\(password)")
      guard algorithm.isOfSession, let protection else { return key }
      return algorithm.hash("\(key):\(nonce):\(protection.clientNonce)")
    }

    /// The value of `response`.
    ///
    /// - Parameters:
    ///   - key: what ``key(user:password:)`` gives.
    ///   - method: the message's method.
    ///   - target: the message's request target, as it is sent.
    func response(key: String, method: String, target: String) -> String {
      let message = algorithm.hash("\(method):\(target)")
      guard let protection else { return algorithm.hash("\(key):\(nonce):\(message)") }
      return algorithm.hash("\(key):\(nonce):\(protection.count):\(protection.clientNonce):auth:\(message)")
    }

    /// What stands for a user's name where the server does not want to see it.
    func userHash(_ user: String) -> String {
      algorithm.hash("\(user):\(realm)")
    }
  }
#endif
