import ApusCore
import ApusMiddleware
import HTTPTypes

/// The parameters of `Authentication-Info` (RFC 7616 §3.5).
struct DigestInfo {
  /// The nonce for the next message.
  let nextNonce: String?
  /// The server's proof that it knows the password.
  let proof: String?
  private let quality: String?
  private let count: String?
  private let clientNonce: String?

  /// Parses the field. Returns `nil` if the response has no such field; a malformed field has no parameters.
  init?(_ fields: HTTPFields) {
    guard let text = fields[.authenticationInfo] else { return nil }
    // The field has the syntax of the parameters of a challenge.
    let parameters = Challenge.all(in: [.wwwAuthenticate: "Digest \(text)"]).first
    nextNonce = parameters?["nextnonce"].flatMap { $0.isEmpty ? nil : $0 }
    proof = parameters?["rspauth"]
    quality = parameters?["qop"]?.lowercased()
    count = parameters?["nc"]
    clientNonce = parameters?["cnonce"]
  }

  /// Whether the returned parameters equal the parameters of a message. Missing parameters are not compared.
  fileprivate func repeats(_ protection: DigestComputation.Protection) -> Bool {
    (count.map { $0.lowercased() == protection.count } ?? true)
      && (clientNonce.map { $0 == protection.clientNonce } ?? true)
  }

  /// Returns the quality of the proof; `nil` if it is unknown.
  fileprivate func quality(or sent: DigestQuality) -> DigestQuality? {
    quality.map { DigestQuality(rawValue: $0) } ?? sent
  }
}

/// The parts of a message with digest credentials, for checking the response.
struct SentDigest {
  private let algorithm: DigestAlgorithm
  private let realm: String
  private let challengeNonce: String
  private let nonce: String
  private let target: String
  private let protection: DigestComputation.Protection

  /// Reads the credentials of a message. Returns `nil` if the message has no digest credentials, or if the credentials
  /// have no quality of protection.
  init?(_ request: RequestMessage, for challenge: DigestChallenge) {
    guard let text = request.head.headerFields[.authorization],
      let sent = Challenge.all(in: [.wwwAuthenticate: text]).first, sent.matches(scheme: "Digest"),
      let nonce = sent["nonce"], let target = sent["uri"], let count = sent["nc"], let clientNonce = sent["cnonce"],
      let quality = sent["qop"].flatMap({ DigestQuality(rawValue: $0) })
    else { return nil }
    algorithm = challenge.algorithm
    realm = challenge.realm
    challengeNonce = challenge.nonce
    (self.nonce, self.target) = (nonce, target)
    protection = DigestComputation.Protection(count: count, clientNonce: clientNonce, quality: quality)
  }

  /// Checks the server's proof.
  ///
  /// - Returns: whether the proof is correct; `nil` if the response has no proof, or if the proof covers content that
  ///   is not in memory.
  func isProven(by info: DigestInfo, _ response: ResponseMessage, _ user: String, _ password: Secret) -> Bool? {
    guard let proof = info.proof else { return nil }
    guard info.repeats(protection), let quality = info.quality(or: protection.quality) else { return false }
    var content: String?
    if quality == .authInt {
      let isEmpty = response.content.expectedLength == 0
      guard let bytes = response.content.bytes.map({ Array($0) }) ?? (isEmpty ? [] : nil) else { return nil }
      content = algorithm.hash(bytes)
    }
    var protection = protection
    protection.quality = quality
    let computation = DigestComputation(
      algorithm: algorithm, realm: realm, nonce: nonce, protection: protection, sessionNonce: challengeNonce)
    let key = computation.key(user: user, password: password.value)
    return computation.response(key: key, method: "", target: target, content: content) == proof.lowercased()
  }
}
