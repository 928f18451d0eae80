#if Credentials
public import ApusCore
public import ApusMiddleware
import HTTPTypes
import Synchronization

extension Authentication {
  /// Authenticates with a user name and a proof of its password in `Authorization: Digest` (RFC 7616).
  ///
  /// The first message to a server has no credentials, and is resent after the challenge; later messages answer the
  /// challenge in advance.
  ///
  /// Of several challenges, the one with the strongest algorithm is answered: `SHA-256` and `SHA-256-sess` before
  /// `MD5` and `MD5-sess`; `SHA-512-256` is not supported. Content is not protected (`auth-int` is not answered), so
  /// use https.
  ///
  /// Downgrades are refused (RFC 7616 §5.8): an `MD5` challenge over plain http, unless the app allows it, and a
  /// challenge that is weaker than an earlier one of the same server. Such calls fail with a ``DigestRefusal``. The
  /// authentication keeps the strength for the whole origin: if two parts of one server differ in strength, give each
  /// its own authentication.
  ///
  /// Names and passwords are hashed in UTF-8, unchanged. Servers expect letters with marks in Unicode normalization
  /// form C, which keyboards write (RFC 7616 §4). For servers without `charset` the standard leaves open how a name
  /// beyond ASCII is written: it is sent in quotes in UTF-8, as browsers do and most servers accept.
  ///
  /// ```swift
  /// let operators = MemoryCredentialsStore(.password(user: "ada", "correct horse"))
  /// var environment = Environment(baseURL: "https://camera.example")
  /// environment.authentication = .digest(operators, allowsMD5: false)
  /// ```
  ///
  /// - Parameters:
  ///   - source: the store of the user name and the password.
  ///   - origins: the origins to which responses to challenges may be sent. Default: the origin of the environment's
  ///     base URL.
  ///   - realm: the protection space of the credentials. Default: any.
  ///   - allowsMD5: whether challenges of servers that offer nothing stronger than `MD5` are answered. A weak
  ///     password can be found from such a response with little effort. Default: `nil`: only over https and to this
  ///     machine, where there are no eavesdroppers, since many servers support nothing else.
  public static func digest(
    _ source: any CredentialsStore, origins: Set<Origin>? = nil, realm: String? = nil, allowsMD5: Bool? = nil
  ) -> Authentication {
    .scheme(DigestScheme(allowsMD5: allowsMD5), source, origins: origins, realm: realm)
  }
}

/// The Digest scheme of ``Authentication/digest(_:origins:realm:allowsMD5:)`` (RFC 7616).
final class DigestScheme: AuthenticationScheme, CustomReflectable {
  private let allowsMD5: Bool?
  private let random: @Sendable () -> UInt64
  private let sessions = Mutex(DigestSessions())

  /// - Parameter random: returns 64 random bits, which must be unpredictable in production.
  init(
    allowsMD5: Bool? = nil, random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
  ) {
    self.allowsMD5 = allowsMD5
    self.random = random
  }

  /// `Digest`
  var name: String? { "Digest" }
  /// `Authorization`
  var locations: [CredentialLocation] { [.field("Authorization")] }
  /// Shows nothing.
  var customMirror: Mirror { Mirror(self, children: []) }

  /// Returns the strongest challenge that can be answered, the first of several equally strong challenges (RFC 7616
  /// §3.7); `nil`: no challenge can be answered.
  func choose(among challenges: [Challenge]) -> Challenge? {
    var chosen: (challenge: Challenge, strength: Int)?
    for challenge in challenges {
      guard let digest = DigestChallenge(challenge, allowsMD5: allowsMD5 ?? true) else { continue }
      if let chosen, chosen.strength >= digest.strength { continue }
      chosen = (challenge, digest.strength)
    }
    return chosen?.challenge
  }

  /// Adds the response to a challenge.
  ///
  /// - Returns: whether a response was added: `false` without a challenge, and for a challenge that is not supported.
  /// - Throws: `TransportError` if the credentials are not a name and a password, or contain a control character;
  ///   with a ``DigestRefusal`` as its cause if the challenge is too weak.
  func authorize(
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
  /// Whether messages to the origin can neither be read nor replaced on the way.
  fileprivate var isPrivate: Bool {
    if scheme == "https" || host == "localhost" || host == "[::1]" { return true }
    return host.utf8.starts(with: "127.".utf8)
      && host.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: ".") }
  }
}

extension DigestChallenge {
  /// Writes the parameters that are sent back to the server unchanged, and those of the message.
  fileprivate func write(to text: inout DigestText, _ protection: DigestComputation.Protection?) {
    if let algorithmName { text.add("algorithm", algorithmName) }
    if let opaque { text.add("opaque", quoting: opaque) }
    guard let protection else { return }
    text.add("qop", "auth")
    text.add("nc", protection.count)
    text.add("cnonce", quoting: protection.clientNonce)
  }
}

/// The message counts of nonces, and the strengths of origins. A pure state machine.
///
/// Among the last 256 nonces, no two messages have the same nonce and count, which a server would take for a replay
/// (RFC 7616 §3.4). Beyond 256, the least recently used nonce is dropped, and would be counted from 1 again.
///
/// A message takes its count when it is made. A message that is only described, or never sent, leaves a gap: counts
/// must rise, but need not be consecutive. A server that requires consecutive counts sends a new nonce.
struct DigestSessions {
  /// A server's nonce. Equal nonces of different servers are different keys.
  struct Key: Hashable {
    let origin: Origin?
    let nonce: String
  }

  private struct Session {
    var count: UInt32 = 0
    /// The client nonce of the first message.
    let clientNonce: String
    var lastUse: UInt64 = 0
  }

  private let limit: Int
  private let maximumUses: UInt32
  private var sessions: [Key: Session] = [:]
  private var uses: UInt64 = 0
  private var strengths: [Origin?: Int] = [:]

  /// Creates an empty state.
  ///
  /// - Parameters:
  ///   - limit: the maximum number of nonces that are kept.
  ///   - maximumUses: the maximum number of uses of a nonce. The default is the maximum of the eight-digit count.
  init(limit: Int = 256, maximumUses: UInt32 = .max) {
    self.limit = limit
    self.maximumUses = maximumUses
  }

  /// Takes the next count of a nonce.
  ///
  /// - Parameters:
  ///   - key: the server's nonce.
  ///   - clientNonce: a new client nonce. That of a session's first message becomes the session's client nonce.
  ///   - staysInSession: whether all messages of a session use its first client nonce.
  /// - Returns: the protection of the message; `nil`: the nonce is used up.
  mutating func next(_ key: Key, clientNonce: String, staysInSession: Bool) -> DigestComputation.Protection? {
    var session = sessions[key] ?? Session(clientNonce: clientNonce)
    guard session.count < maximumUses else { return nil }
    uses += 1
    session.count += 1
    session.lastUse = uses
    if sessions[key] == nil, sessions.count >= limit { forgetOne() }
    sessions[key] = session
    return DigestComputation.Protection(
      count: DigestText.hexadecimal(session.count), clientNonce: staysInSession ? session.clientNonce : clientNonce)
  }

  /// Whether a challenge may be answered: it is at least as strong as every earlier challenge of the same origin.
  ///
  /// - Parameters:
  ///   - strength: the challenge's ``DigestChallenge/strength``.
  ///   - origin: the origin of the server. Beyond 256 origins, one is dropped.
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
