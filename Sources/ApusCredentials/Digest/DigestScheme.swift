#if Credentials
  public import ApusCore
  public import ApusMiddleware
  import HTTPTypes
  import Synchronization

  /// A name, and a proof of knowing its password, in `Authorization: Digest` (RFC 7616).
  ///
  /// A server has to ask first; from then on messages carry an answer unasked. Of several challenges the one with the
  /// strongest algorithm is answered: `SHA-256` and `SHA-256-sess` before `MD5` and `MD5-sess`; `SHA-512-256` is not
  /// known here. Content is not protected (`auth-int` is not answered), so use https.
  ///
  /// Nobody on the way can have a weaker answer than the server asks for (RFC 7616 §5.8): over plain http `MD5` is not
  /// answered unless the app allows it, and a server that was answered with something stronger before is not answered
  /// with less. Such calls fail with a ``DigestRefusal``. What was answered is remembered by this scheme and for the whole
  /// origin: where two parts of one server differ in strength, give each an authentication of its own.
  ///
  /// Names and passwords are hashed in UTF-8 as they are given. Where they have letters with marks, servers expect them
  /// in Unicode's normalization form C, which keyboards write (RFC 7616 §4). The standard leaves open how a name beyond
  /// ASCII is written where the server does not say that it takes UTF-8 (`charset`): it is put between quotes in UTF-8, as
  /// browsers do and most servers take it.
  public final class DigestScheme: AuthenticationScheme, CustomReflectable {
    private let allowsMD5: Bool?
    private let random: @Sendable () -> UInt64
    private let sessions = Mutex(DigestSessions())

    /// Makes the scheme.
    ///
    /// - Parameters:
    ///   - allowsMD5: whether servers are answered that offer nothing stronger than `MD5`. A weak password can be found
    ///     from such an answer with little effort. Default: `nil`, over https and on this machine, where nobody reads
    ///     along, since many servers know nothing else.
    ///   - random: 64 random bits; must be unpredictable in production. Default: the system's generator.
    public init(
      allowsMD5: Bool? = nil, random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
    ) {
      self.allowsMD5 = allowsMD5
      self.random = random
    }

    /// `Digest`
    public var name: String? { "Digest" }
    /// `Authorization`
    public var places: [CredentialPlace] { [.field("Authorization")] }
    /// Shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// The strongest challenge that can be answered, the first of several that are as strong (RFC 7616 §3.7); `nil`: none
    /// can.
    public func choose(among challenges: [Challenge]) -> Challenge? {
      var chosen: (challenge: Challenge, strength: Int)?
      for challenge in challenges {
        guard let digest = DigestChallenge(challenge, allowsMD5: allowsMD5 ?? true) else { continue }
        if let chosen, chosen.strength >= digest.strength { continue }
        chosen = (challenge, digest.strength)
      }
      return chosen?.challenge
    }

    /// Adds an answer to what the server asked for.
    ///
    /// - Returns: whether there is one: `false` before a server has asked, and where it asks for what is not known here.
    /// - Throws: `TransportError` when the credentials are no name and password, or hold a control character: whichever
    ///   challenge was chosen; with a ``DigestRefusal`` as its cause when the challenge is too weak.
    public func authorize(
      _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
    ) throws -> Bool {
      guard let challenge = challenge.flatMap({ DigestChallenge($0, allowsMD5: allowsMD5 ?? true) }) else {
        return false
      }
      guard case .password(let user, let password) = credential else {
        throw DigestUser.fault("digest authentication needs a name and a password")
      }
      let shownUser = try DigestUser(user, password: password, for: challenge)
      try admit(challenge, at: request.origin)
      var protection: DigestComputation.Protection?
      if challenge.isProtected {
        protection = nextProtection(challenge, at: request.origin)
        guard protection != nil else { return false }
      }
      let computation = DigestComputation(
        algorithm: challenge.algorithm, realm: challenge.realm, nonce: challenge.nonce, protection: protection)
      let response = computation.response(
        key: computation.key(user: user, password: password.value), method: request.head.method.rawValue,
        target: request.target)
      var text = DigestText()
      shownUser.write(to: &text, computation)
      text.add("realm", quoting: challenge.realm)
      text.add("nonce", quoting: challenge.nonce)
      text.add("uri", quoting: request.target)
      text.add("response", quoting: response)
      challenge.write(to: &text, protection)
      return try request.addField(RawField("Authorization", text.text, isSensitive: true))
    }

    private func admit(_ challenge: DigestChallenge, at origin: Origin?) throws {
      if challenge.algorithm.isMD5, allowsMD5 != true, origin?.isPrivate != true {
        throw DigestRefusal.weakAlgorithm.error
      }
      guard sessions.withLock({ $0.admit(challenge.strength, at: origin) }) else { throw DigestRefusal.downgrade.error }
    }

    private func nextProtection(_ challenge: DigestChallenge, at origin: Origin?) -> DigestComputation.Protection? {
      let clientNonce = DigestText.hexadecimal(random()) + DigestText.hexadecimal(random())
      return sessions.withLock { sessions in
        sessions.next(
          DigestSessions.Key(origin: origin, nonce: challenge.nonce), clientNonce: clientNonce,
          staysInSession: challenge.algorithm.isOfSession)
      }
    }
  }

  extension Origin {
    /// Whether nobody on the way can read what goes there, or replace what comes back.
    fileprivate var isPrivate: Bool {
      if scheme == "https" || host == "localhost" || host == "[::1]" { return true }
      return host.utf8.starts(with: "127.".utf8)
        && host.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".") }
    }
  }

  extension DigestChallenge {
    /// What comes back to the server as it was, and what belongs to the message.
    fileprivate func write(to text: inout DigestText, _ protection: DigestComputation.Protection?) {
      if let algorithmName { text.add("algorithm", algorithmName) }
      if let opaque { text.add("opaque", quoting: opaque) }
      guard let protection else { return }
      text.add("qop", "auth")
      text.add("nc", protection.count)
      text.add("cnonce", quoting: protection.clientNonce)
    }
  }
#endif
