import ApusCore
import ApusMiddleware

/// The computation of a digest response (RFC 7616 §3.4.1 to §3.4.4). A pure value.
struct DigestComputation {
  /// The parameters of a response that depend on the quality of protection.
  struct Protection: Hashable {
    /// The number of messages with the server's nonce, including this message, in eight hexadecimal digits.
    let count: String
    /// The client's nonce.
    let clientNonce: String
    var quality = DigestQuality.auth
  }

  let algorithm: DigestAlgorithm
  let realm: String
  /// The server's nonce of the message.
  let nonce: String
  /// The protection; `nil` if the server requests none, as in RFC 2069.
  let protection: Protection?
  /// The nonce of the challenge that began the session; `nil` if it is the nonce of the message.
  var sessionNonce: String?

  /// Returns `H(A1)`, the key made from a name and a password.
  ///
  /// For a session algorithm the result is the session's key, which includes the client nonce of the session's first
  /// message. All messages of the session use that client nonce.
  func key(user: String, password: String) -> String {
    let key = algorithm.hash("\(user):\(realm):\(password)")
    guard algorithm.isOfSession, let protection else { return key }
    return algorithm.hash("\(key):\(sessionNonce ?? nonce):\(protection.clientNonce)")
  }

  /// Returns the value of `response`.
  ///
  /// - Parameters:
  ///   - key: the result of ``key(user:password:)``.
  ///   - method: the message's method. Empty for `rspauth`, the proof of the server (RFC 7616 §3.5).
  ///   - target: the message's request target, as it is sent.
  ///   - content: the hash of the content, which is used for `auth-int` only. Default: the hash of empty content.
  func response(key: String, method: String, target: String, content: String? = nil) -> String {
    guard let protection else { return algorithm.hash("\(key):\(nonce):\(algorithm.hash("\(method):\(target)"))") }
    var message = "\(method):\(target)"
    if protection.quality == .authInt { message += ":\(content ?? algorithm.hash(""))" }
    let quality = protection.quality.rawValue
    return algorithm.hash(
      "\(key):\(nonce):\(protection.count):\(protection.clientNonce):\(quality):\(algorithm.hash(message))")
  }

  /// Returns the hash of a user name, for servers that request a hash.
  func userHash(_ user: String) -> String {
    algorithm.hash("\(user):\(realm)")
  }
}

/// The notation of a user name (RFC 7616 §3.4, §3.4.4).
enum DigestUser {
  /// In quotes: an ASCII name, or any name if the server does not state that it accepts the extended notation.
  case plain(String)
  /// In the extended notation, for a name beyond ASCII.
  case extended(String)
  /// Hashed, if the server requests a hash.
  case hashed(String)

  /// Checks the name and the password, and chooses the notation.
  ///
  /// - Throws: `TransportError` whose detail describes the fault and contains neither the name nor the password.
  init(_ user: String, password: Secret, for challenge: DigestChallenge) throws {
    guard !Self.hasControls(user), !Self.hasControls(password.value) else {
      throw Self.fault("the user name or the password holds a control character")
    }
    if challenge.hashesUser {
      self = .hashed(user)
    } else if challenge.acceptsUTF8, user.utf8.contains(where: { $0 >= 0x80 }) {
      self = .extended(user)
    } else {
      self = .plain(user)
    }
  }

  /// Writes the name.
  func write(to text: inout DigestText, _ computation: DigestComputation) {
    switch self {
    case .plain(let user): text.add("username", quoting: user)
    case .extended(let user): text.add("username*", DigestText.extended(user))
    case .hashed(let user):
      text.add("username", quoting: computation.userHash(user))
      text.add("userhash", "true")
    }
  }

  /// Returns the error of a call whose credentials cannot be sent.
  static func fault(_ detail: String) -> TransportError {
    TransportError(.invalidRequest, requestState: .notSent, detail: detail)
  }

  private static func hasControls(_ text: String) -> Bool {
    text.unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
