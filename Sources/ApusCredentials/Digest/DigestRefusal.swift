import ApusCore

/// The reason why a supported digest challenge, or a response to a message with digest credentials, is refused (RFC
/// 7616 §3.5, §5.8).
///
/// A refusal is the cause of the `CallError` that such a call throws, with the code `refused`:
/// `error.underlying as? DigestRefusal`.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum DigestRefusal: Error, Sendable, Hashable {
  /// Over plain http to another machine, the server offers no algorithm stronger than `MD5`. An eavesdropper could
  /// derive a weak password from the response. `allowsMD5: true` accepts such servers.
  case weakAlgorithm
  /// The same server offered a stronger algorithm before: an attacker may have replaced its challenge.
  case downgrade
  /// The proof of the server (`rspauth` in `Authentication-Info`) does not match the password: the response comes from
  /// another server, or was changed in transit. The response is not delivered.
  case wrongProof
  /// The response contains no proof, although the app requires one. The response is not delivered.
  case missingProof
}

extension DigestRefusal: CustomStringConvertible {
  /// The reason as a clause, without any text from the server.
  public var description: String {
    switch self {
    case .weakAlgorithm:
      "the server offers digest with MD5 only, over plain http; allow it with allowsMD5: true, or use https"
    case .downgrade: "the server offers a weaker digest than before; the challenge may have been tampered with"
    case .wrongProof: "the server's digest proof is wrong; the response may have been tampered with"
    case .missingProof: "the server sent no digest proof that can be checked, and the app requires one"
    }
  }

  /// The error of the attempt.
  var error: TransportError {
    TransportError(.refused, requestState: .notSent, detail: description, underlying: self)
  }
}
