/// The stage of a call.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CallPhase: Sendable, Hashable {
  /// The request is described, encoded and checked.
  case preparing
  /// The call waits in the pipeline, before an exchange.
  case waiting
  /// The connection is being established or the request is being sent; no byte of the response has arrived.
  case connecting
  /// The request is sent; the response head is awaited.
  case awaitingHead
  /// The content (body) of the response is arriving.
  case receiving
  /// The response is decoded.
  case decoding
  /// A closure of the app runs.
  case handling
}

/// Whether the server may have seen a failed request, which determines whether a retry is safe.
public enum RequestState: Sendable, Hashable {
  /// The server cannot have seen the request.
  case notSent
  /// The server may have acted on the request.
  case maybeSent
  /// The server responded.
  case responded
}

/// The reason why a call ended early.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum CancellationReason: Sendable, Hashable, CustomStringConvertible {
  /// The task that made the call was cancelled.
  case caller
  /// The call was cancelled through the registry: by id, tag or endpoint, or together with all other calls.
  case requested
  /// A newer call replaced this call.
  case superseded
  /// The deadline of the whole call passed in this phase.
  case deadline(CallPhase)

  /// The code of the error for this reason.
  var code: CallError.Code {
    if case .deadline = self { return .timeout }
    return .cancelled
  }

  /// The reason in a few words.
  public var description: String {
    switch self {
    case .caller: "the caller's task was cancelled"
    case .requested: "by the app"
    case .superseded: "superseded by a newer call"
    case .deadline(let phase): "deadline passed while \(phase)"
    }
  }
}
