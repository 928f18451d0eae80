public import ApusCore
public import ApusMiddleware
import HTTPTypes
import Synchronization

extension Authentication {
  /// Authenticates with a user name and a proof of its password in `Authorization: Digest` (RFC 7616).
  ///
  /// The first message to a server has no credentials, and is resent after the challenge. Later messages respond to the
  /// challenge in advance.
  ///
  /// Of several challenges, the client responds to the challenge with the strongest algorithm. `SHA-256` and
  /// `SHA-512-256`, also with `-sess`, are stronger than `MD5` and `MD5-sess`. Of equally strong challenges, the client
  /// responds to the first.
  ///
  /// If the server offers `auth-int`, the content of messages is protected: it is hashed before it is sent, so a file
  /// is read twice. Content that can be read only once, such as a stream, uses `auth`; a server that offers only
  /// `auth-int` rejects such a message. With `auth-int` the client requests a response without content coding, so that
  /// the server's proof can be checked. Use https nevertheless, because the content is not encrypted.
  ///
  /// A server can prove that it knows the password (`rspauth` in `Authentication-Info`). A wrong proof fails the call
  /// with a ``DigestRefusal``, and the response is not delivered. A missing proof fails the call only with
  /// `requiresProof`. The nonce that a response states in `nextnonce` is used for the next message.
  ///
  /// Downgrades are refused (RFC 7616 §5.8): an `MD5` challenge over plain http, unless the app allows it, and a
  /// challenge that is weaker than an earlier challenge of the same server. Such calls fail with a ``DigestRefusal``.
  /// The authentication stores one strength for the whole origin: if two parts of one server differ in strength, give
  /// each a separate authentication.
  ///
  /// Names and passwords are hashed in UTF-8, unchanged. Servers expect letters with marks in Unicode normalization
  /// form C, which keyboards produce (RFC 7616 §4). For servers without `charset` the RFC does not define how a name
  /// beyond ASCII is written: it is sent in quotes in UTF-8, as browsers do and most servers accept.
  ///
  /// ```swift
  /// let operators = MemoryCredentialsStore(.password(user: "ada", "correct horse"))
  /// var environment = Environment(baseURL: "https://camera.example")
  /// environment.authentication = .digest(operators, allowsMD5: false)
  /// ```
  ///
  /// - Parameters:
  ///   - store: the store of the user name and the password.
  ///   - origins: the origins to which responses to challenges may be sent. Default: the origin of the environment's
  ///     base URL.
  ///   - realm: the protection space of the credentials. Default: any.
  ///   - allowsMD5: whether the client responds to servers that offer no algorithm stronger than `MD5`. A weak password
  ///     can be derived from such a response with little effort. Default: `nil`, only over https and to this machine,
  ///     where no one can eavesdrop, because many servers support no other algorithm.
  ///   - requiresProof: whether a response to a message with credentials must contain the server's proof; 401 and
  ///     statuses from 500 are exempt. A proof that covers the content (`auth-int`) can be checked only for calls that
  ///     are not streamed; a streamed call then fails. Default: `false`, because many servers send no proof.
  public static func digest(
    _ store: any CredentialsStore, origins: Set<Origin>? = nil, realm: String? = nil, allowsMD5: Bool? = nil,
    requiresProof: Bool = false
  ) -> Authentication {
    .scheme(
      DigestScheme(allowsMD5: allowsMD5, requiresProof: requiresProof), store, origins: origins, realm: realm)
  }
}

/// The Digest scheme of ``Authentication/digest(_:origins:realm:allowsMD5:requiresProof:)`` (RFC 7616).
final class DigestScheme: AuthenticationScheme, CustomReflectable {
  private let allowsMD5: Bool?
  private let requiresProof: Bool
  private let random: @Sendable () -> UInt64
  private let sessions = Mutex(DigestSessions())

  /// - Parameter random: returns 64 random bits, which must be unpredictable in production.
  init(
    allowsMD5: Bool? = nil, requiresProof: Bool = false,
    random: @escaping @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }
  ) {
    self.allowsMD5 = allowsMD5
    self.requiresProof = requiresProof
    self.random = random
  }

  var name: String? { "Digest" }
  var locations: [CredentialLocation] { [.field("Authorization")] }
  /// An empty mirror, so that dumps contain no secrets.
  var customMirror: Mirror { Mirror(self, children: []) }

  /// Returns the strongest supported challenge, or the first of several equally strong challenges (RFC 7616 §3.7);
  /// `nil` if no challenge is supported.
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
  /// - Returns: whether a response was added: `false` without a challenge, and for a challenge that is not supported,
  ///   or not possible for this content.
  /// - Throws: `TransportError` if the credentials are not a name and a password, or contain a control character;
  ///   with a ``DigestRefusal`` as its cause if the challenge is too weak; if the content cannot be read.
  func authorize(
    _ request: inout RequestMessage, with credential: Credential, for challenge: Challenge?
  ) async throws -> Bool {
    guard let challenge = challenge.flatMap({ DigestChallenge($0, allowsMD5: allowsMD5 ?? true) }) else {
      return false
    }
    guard case .password(let user, let password) = credential else {
      throw DigestUser.fault("digest authentication needs a name and a password")
    }
    let shownUser = try DigestUser(user, password: password, for: challenge)
    try admit(challenge, at: request.origin)
    var content: String?
    let use: DigestSessions.NonceUse?
    if challenge.isProtected {
      guard let quality = challenge.quality(for: request.content) else { return false }
      if quality == .authInt {
        content = try await challenge.algorithm.hash(request.content)
        try request.addField(RawField("Accept-Encoding", "identity"))
      }
      use = nextUse(challenge, at: request.origin, quality)
      guard use != nil else { return false }
    } else {
      use = nil
    }
    let computation = challenge.computation(use)
    let response = computation.response(
      key: computation.key(user: user, password: password.value), method: request.head.method.rawValue,
      target: request.target, content: content)
    var text = DigestText()
    shownUser.write(to: &text, computation)
    challenge.write(to: &text, computation, target: request.target, response: response)
    return try request.addField(RawField("Authorization", text.text, isSensitive: true))
  }

  /// Checks the server's proof, and stores the nonce for the next message.
  ///
  /// - Throws: `TransportError` with a ``DigestRefusal`` as its cause if the proof is wrong, or missing and required.
  func receive(
    _ response: ResponseMessage, to request: RequestMessage, with credential: Credential, for challenge: Challenge?
  ) throws -> Bool {
    guard let challenge = challenge.flatMap({ DigestChallenge($0, allowsMD5: allowsMD5 ?? true) }),
      case .password(let user, let password) = credential
    else { return false }
    let key = DigestSessions.Key(origin: request.origin, nonce: challenge.nonce)
    guard response.head.status != .unauthorized else {
      sessions.withLock { $0.setSuccessor(of: key, to: nil) }
      return false
    }
    let info = DigestInfo(response.head.headerFields)
    let sent = info?.proof == nil ? nil : SentDigest(request, for: challenge)
    let isProven = info.flatMap { sent?.isProven(by: $0, response, user, password) }
    if isProven == false { throw DigestRefusal.wrongProof.error }
    if requiresProof, isProven == nil, response.head.status.code < 500 { throw DigestRefusal.missingProof.error }
    if let next = info?.nextNonce { sessions.withLock { $0.setSuccessor(of: key, to: next) } }
    return false
  }

  private func admit(_ challenge: DigestChallenge, at origin: Origin?) throws {
    if challenge.algorithm.isMD5, allowsMD5 != true, origin?.isPrivate != true {
      throw DigestRefusal.weakAlgorithm.error
    }
    guard sessions.withLock({ $0.admit(challenge.strength, at: origin) }) else { throw DigestRefusal.downgrade.error }
  }

  private func nextUse(
    _ challenge: DigestChallenge, at origin: Origin?, _ quality: DigestQuality
  ) -> DigestSessions.NonceUse? {
    let clientNonce = DigestText.hexadecimal(random()) + DigestText.hexadecimal(random())
    return sessions.withLock { sessions in
      sessions.next(
        DigestSessions.Key(origin: origin, nonce: challenge.nonce), clientNonce: clientNonce, quality,
        staysInSession: challenge.algorithm.isOfSession)
    }
  }
}

extension Origin {
  /// Whether messages to the origin can neither be read nor changed in transit.
  fileprivate var isPrivate: Bool { scheme == "https" || isThisMachine }
}

extension DigestChallenge {
  /// Returns the computation of the response for a message.
  fileprivate func computation(_ use: DigestSessions.NonceUse?) -> DigestComputation {
    DigestComputation(
      algorithm: algorithm, realm: realm, nonce: use?.nonce ?? nonce, protection: use?.protection,
      sessionNonce: nonce)
  }

  /// Writes the parameters after the user name.
  fileprivate func write(
    to text: inout DigestText, _ computation: DigestComputation, target: String, response: String
  ) {
    text.add("realm", quoting: realm)
    text.add("nonce", quoting: computation.nonce)
    text.add("uri", quoting: target)
    text.add("response", quoting: response)
    if let algorithmName { text.add("algorithm", algorithmName) }
    if let opaque { text.add("opaque", quoting: opaque) }
    guard let protection = computation.protection else { return }
    text.add("qop", protection.quality.rawValue)
    text.add("nc", protection.count)
    text.add("cnonce", quoting: protection.clientNonce)
  }
}
