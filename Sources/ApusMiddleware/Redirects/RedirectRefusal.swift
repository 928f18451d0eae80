import ApusCore

/// Why a redirect was not followed.
///
/// It is the cause of the ``CallError`` that such a call throws: `error.underlying as? RedirectRefusal`.
public enum RedirectRefusal: Error, Sendable, Hashable {
  /// It would have been one more than are followed in a row.
  case tooMany(limit: Int)
  /// The call has been there before with the same method, and no cookie has been set since that could make a
  /// difference.
  case loop
  /// It leads from https to http.
  case insecure
  /// It leads to something that is neither http nor https.
  case otherScheme
  /// It leads to a host that is not allowed.
  case hostNotAllowed
  /// The content would have to be sent again, and can be sent once only.
  case contentNotReplayable
  /// Its `Location` cannot be used: why, as half a sentence that holds nothing of its text.
  case malformedLocation(String)
}

extension RedirectRefusal: CustomStringConvertible {
  /// The reason in half a sentence, without anything that came from the server.
  public var description: String {
    switch self {
    case .tooMany(let limit): "a redirect was not followed: there were \(limit) before"
    case .loop: "a redirect was not followed: it leads in a circle"
    case .insecure: "a redirect was not followed: it leads from https to http"
    case .otherScheme: "a redirect was not followed: it leads to something that is neither http nor https"
    case .hostNotAllowed: "a redirect was not followed: it leads to a host that is not allowed"
    case .contentNotReplayable: "a redirect was not followed: the content can be sent only once"
    case .malformedLocation(let reason): "a redirect was not followed: \(reason)"
    }
  }

  /// What the call fails with: the server's redirect is at fault, or content that the app made to be sent once.
  var error: TransportError {
    let kind: TransportError.Kind = self == .contentNotReplayable ? .unsupported : .malformedResponse
    return TransportError(kind, requestState: .answered, detail: description, underlying: self)
  }
}
