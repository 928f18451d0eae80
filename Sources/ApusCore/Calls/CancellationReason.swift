/// Why a call was ended before it was done.
public enum CancellationReason: Sendable, Hashable, CustomStringConvertible {
  /// The task that made the call was cancelled.
  case caller
  /// It was cancelled through the registry, by id, tag, endpoint or together with all.
  case requested
  /// A newer call took its place.
  case superseded
  /// The deadline of the whole call passed while it was in this phase.
  case deadline(CallPhase)

  /// The code of an error for this reason.
  var code: CallError.Code {
    if case .deadline = self { return .timeout }
    return .cancelled
  }

  /// The reason in a word.
  public var description: String {
    switch self {
    case .caller: "the caller's task was cancelled"
    case .requested: "on request"
    case .superseded: "a newer call took its place"
    case .deadline(let phase): "deadline passed while \(phase.rawValue)"
    }
  }
}
