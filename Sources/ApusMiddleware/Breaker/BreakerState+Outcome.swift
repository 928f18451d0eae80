import ApusCore
import HTTPTypes

/// One call on its way through a circuit.
struct BreakerPass: Sendable {
  let circuit: Circuit
  let permit: BreakerState.Permit
  let begin: MonotonicInstant
}

extension BreakerState.Outcome {
  /// What an answer says, by its status (RFC 9110 §15.6): a server that refuses a request works.
  init(_ response: ResponseMessage, _ policy: BreakerPolicy) {
    switch response.head.status.code {
    case 503: self = .failed(isGateway: true, retryAfter: response.retryAfter)
    case 502, 504: self = .failed(isGateway: true)
    case 500: self = .failed(isGateway: false)
    case 429 where policy.countsThrottling: self = .failed(isGateway: false)
    default: self = .answered
    }
  }

  /// What an error says that the rest of the pipeline threw.
  init(_ error: any Error, _ pass: BreakerPass, _ policy: BreakerPolicy, _ context: CallContext) {
    switch error {
    case let error as TransportError: self = Self.of(error)
    case is CancellationError:
      // What went by while the call waited on this side was no time of the server's.
      guard context.phase != .preparing, context.phase != .waiting else {
        self = .nothing
        return
      }
      // Whoever sets a deadline ends what is under way by cancelling it.
      let now = context.now
      let isTimeout = context.deadline.map { $0 <= now } ?? false
      let hadTime = pass.begin.duration(to: now) >= policy.patience
      self = isTimeout && hadTime ? .failed(isGateway: false) : .nothing
    // A middleware's own, or that of another call which this one needed.
    default: self = .nothing
    }
  }

  private static func of(_ error: TransportError) -> Self {
    // What the app wanted to send, what it had to get first, and what was held back here say nothing of the server.
    guard error.subject == .server else { return .nothing }
    return switch error.kind {
    case .hostNotFound, .connectionFailed, .tls, .timedOut(.connecting): .failed(isGateway: true)
    case .broken: .failed(isGateway: false)
    // A redirect that is not followed was an answer.
    case .malformedResponse: error.underlying is RedirectRefusal ? .answered : .failed(isGateway: false)
    case .contentTooLarge: .answered
    case .timedOut(.preparing), .timedOut(.waiting), .timedOut(.decoding), .timedOut(.handling): .nothing
    case .timedOut: .failed(isGateway: false)
    // Without a network no server can be judged; the rest never reached one.
    case .offline, .declined, .unsupported: .nothing
    }
  }
}
