import ApusCore
import HTTPTypes

extension BreakerOutcome {
  /// What a response says, by its status (RFC 9110 §15.6): a server that rejects a request works.
  init(_ response: ResponseMessage, _ policy: BreakerPolicy) {
    let status = response.head.status.code
    let cause = FailedAttempt.Cause.answered(status: status)
    switch status {
    case 503: self = .failed(.gateway, cause, retryAfter: response.retryAfter)
    case 502, 504: self = .failed(.gateway, cause)
    case 500: self = .failed(.status, cause)
    case 429 where policy.countsThrottling: self = .failed(.status, cause)
    default: self = .answered
    }
  }

  /// What an error says that the rest of the pipeline threw.
  ///
  /// - Parameter start: when the exchange passed the circuits.
  init(_ error: any Error, since start: MonotonicInstant, _ policy: BreakerPolicy, _ context: CallContext) {
    switch error {
    case let error as TransportError: self.init(error, since: start, policy, context)
    case is CancellationError: self.init(cancelledSince: start, policy, context)
    // A middleware's own, or that of another call which this one needed.
    default: self = .nothing
    }
  }

  private init(
    _ error: TransportError, since start: MonotonicInstant, _ policy: BreakerPolicy, _ context: CallContext
  ) {
    let cause = FailedAttempt.Cause.failed(error.code, error.requestState)
    switch error.kind {
    // What the app wanted to send, what it had to get first, and what was held back here say nothing of the server.
    case _ where error.subject != .server: self = .nothing
    case .hostNotFound, .connectionFailed, .tls: self = .unreachable(cause)
    case .broken: self = .failed(.reset, cause)
    case .timedOut(.connecting) where error.requestState == .notSent:
      // The transport's own limit is meant for connecting; that of an attempt may be shorter than any server needs.
      let now = context.now
      let isAttempts = context.attemptDeadline.map { $0 <= now } ?? false
      self = isAttempts && start.duration(to: now) < policy.patience ? .nothing : .unreachable(cause)
    case .timedOut(.connecting), .timedOut(.awaitingHead), .timedOut(.receiving):
      self = start.duration(to: context.now) < policy.patience ? .nothing : .failed(.timeout, cause)
    case .timedOut: self = .nothing
    // Without a network no server can be judged; the rest never reached one.
    case .offline, .declined, .unsupported: self = .nothing
    case .malformedResponse, .contentTooLarge: self = .answered
    }
  }

  /// A deadline ends what is under way by cancelling it. The time that went by on this side was none of the server's.
  private init(cancelledSince start: MonotonicInstant, _ policy: BreakerPolicy, _ context: CallContext) {
    let now = context.now
    let isTimeout = context.remaining.map { $0 <= .zero } ?? false
    guard isTimeout, start.duration(to: now) >= policy.patience else {
      self = .nothing
      return
    }
    switch context.call.phase {
    // Whether there was a connection is not known here.
    case .connecting, .awaitingHead: self = .failed(.timeout, .failed(.timeout, .maybeSent))
    case .receiving: self = .failed(.timeout, .failed(.timeout, .answered))
    case .preparing, .waiting, .decoding, .handling: self = .nothing
    }
  }
}
