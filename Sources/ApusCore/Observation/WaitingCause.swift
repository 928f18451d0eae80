/// Why a call waits for its turn before it is sent.
public enum WaitingCause: Sendable, Hashable, CustomStringConvertible {
  /// The app holds it back: its tag, or every call.
  case held
  /// So many calls with a tag of its own run already.
  case tag(limit: Int)
  /// So many calls to its server run already.
  case origin(limit: Int)
  /// So many calls run already.
  case total(limit: Int)
  /// There is room, and others take it first.
  case others
  /// So many have been sent that the pace allows no more, or the server asked for a pause.
  case rateLimit
  /// The device has no network.
  case network

  /// The reason as it stands in a timeline.
  public var description: String {
    switch self {
    case .held: "held back"
    case .tag(let limit): "\(limit) calls with its tag at a time"
    case .origin(let limit): "\(limit) calls to its server at a time"
    case .total(let limit): "\(limit) calls at a time"
    case .others: "others go first"
    case .rateLimit: "the rate limit"
    case .network: "there is no network"
    }
  }
}
