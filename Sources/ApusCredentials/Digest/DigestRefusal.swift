#if Credentials
  import ApusCore

  /// Why a digest challenge is not answered, though it could be (RFC 7616 §5.8).
  ///
  /// It is the cause of the ``ApusCore/CallError`` that such a call throws, with the code `declined`:
  /// `error.underlying as? DigestRefusal`.
  public enum DigestRefusal: Error, Sendable, Hashable {
    /// The server offers nothing stronger than `MD5`, over plain http to another machine: from such an answer anybody on
    /// the way can find a weak password. Servers that know nothing else are answered with `allowsMD5: true`.
    case weakAlgorithm
    /// The same server was answered with something stronger before: somebody on the way may have replaced its challenge.
    case downgrade
  }

  extension DigestRefusal: CustomStringConvertible {
    /// The reason in half a sentence, without anything that came from the server.
    public var description: String {
      switch self {
      case .weakAlgorithm:
        "the server offers digest with MD5 alone, over plain http; allow it with allowsMD5: true, or use https"
      case .downgrade: "the server offers a weaker digest than it did before; somebody may have replaced its challenge"
      }
    }

    /// What the call fails with.
    var error: TransportError {
      TransportError(.declined, requestState: .notSent, detail: description, underlying: self)
    }
  }
#endif
