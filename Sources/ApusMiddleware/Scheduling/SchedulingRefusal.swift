import ApusCore

/// Why a call was not given its turn.
///
/// It is the cause of the ``CallError`` that such a call throws: `error.underlying as? SchedulingRefusal`.
public enum SchedulingRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// So many wait already. The code is `declined`.
  case queueFull(limit: Int)
  /// Its time was up before its turn came, or not enough was left to get an answer. The code is `timeout`, the phase
  /// `waiting`.
  case late

  /// The reason in half a sentence.
  public var description: String {
    switch self {
    case .queueFull(let limit): "\(limit) calls wait for their turn already"
    case .late: "its turn came too late"
    }
  }

  /// What the call fails with. This attempt of it was not sent.
  var error: TransportError {
    let kind: TransportError.Kind = self == .late ? .timedOut(.waiting) : .declined
    return TransportError(kind, requestState: .notSent, detail: description, underlying: self).about(.control)
  }
}
