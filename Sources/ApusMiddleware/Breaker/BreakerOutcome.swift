import ApusCore
import HTTPTypes

/// The outcome of an exchange for its circuits.
enum BreakerOutcome: Hashable {
  /// The failure of a server that was reached.
  enum Failure: Hashable {
    /// Status 502, 503 or 504.
    case gateway
    /// A timeout waiting for the head or for more content.
    case timeout
    /// A status of the application, such as 500.
    case status
    /// The connection was lost.
    case reset
  }

  /// The server works.
  case responded
  /// There was no connection: no address, connection refused, TLS, or a connect timeout.
  case unreachable(FailedAttempt.Cause)
  /// The server failed. `retryAfter` is the delay that a 503 requests.
  case failed(Failure, FailedAttempt.Cause, retryAfter: Duration? = nil)
  /// No evidence: the call was cancelled, refused by the client, or failed for a reason other than the server.
  case nothing

  /// Whether there was a response head.
  var hasResponse: Bool {
    switch self {
    case .responded, .failed(_, .status, _), .failed(_, .failed(_, .responded), _): true
    case .unreachable, .failed, .nothing: false
    }
  }
}

extension BreakerOutcome {
  /// Creates the outcome of a response, by its status (RFC 9110 §15.6). A server that rejects a request works.
  init(_ response: ResponseMessage) {
    let status = response.statusCode
    let cause = FailedAttempt.Cause.status(status)
    switch status {
    case 503: self = .failed(.gateway, cause, retryAfter: response.retryAfter)
    case 502, 504: self = .failed(.gateway, cause)
    case 500: self = .failed(.status, cause)
    default: self = .responded
    }
  }

  /// Creates the outcome of an error.
  ///
  /// - Parameter start: the instant at which the exchange was admitted.
  init(_ error: any Error, since start: MonotonicInstant, _ policy: BreakerPolicy, _ context: CallContext) {
    switch error {
    case let error as TransportError: self.init(error, since: start, policy, context)
    case is CancellationError: self.init(cancelledSince: start, policy, context)
    // An error of a middleware, or of another call that this call needed.
    default: self = .nothing
    }
  }

  private init(
    _ error: TransportError, since start: MonotonicInstant, _ policy: BreakerPolicy, _ context: CallContext
  ) {
    let cause = FailedAttempt.Cause.failed(error.code, error.requestState)
    switch error.code {
    // Failures of the app's content or of another call that this call needed, and refusals by the client, are no
    // evidence.
    case _ where error.source != .server: self = .nothing
    case .hostNotFound, .connectionFailed, .tls: self = .unreachable(cause)
    case .connectionLost: self = .failed(.reset, cause)
    case .timeout where error.phase == .connecting && error.requestState == .notSent:
      // The transport's connect timeout always counts; an attempt's timeout may be shorter than any server needs.
      let now = context.now
      let isAttempts = context.attemptDeadline.map { $0 <= now } ?? false
      self = isAttempts && start.duration(to: now) < policy.minimumTimeout ? .nothing : .unreachable(cause)
    case .timeout where error.phase.map { [.connecting, .awaitingHead, .receiving].contains($0) } ?? true:
      self = start.duration(to: context.now) < policy.minimumTimeout ? .nothing : .failed(.timeout, cause)
    case .malformedResponse, .contentTooLarge: self = .responded
    // A missing network is no evidence about a server; refused and invalid requests never reached a server.
    default: self = .nothing
    }
  }

  /// Creates the outcome of a cancelled exchange. A deadline cancels the exchange; time spent in the client does not
  /// count.
  private init(cancelledSince start: MonotonicInstant, _ policy: BreakerPolicy, _ context: CallContext) {
    let now = context.now
    let isTimeout = context.remaining.map { $0 <= .zero } ?? false
    guard isTimeout, start.duration(to: now) >= policy.minimumTimeout else {
      self = .nothing
      return
    }
    switch context.call.phase {
    // In these phases it is unknown whether there was a connection.
    case .connecting, .awaitingHead: self = .failed(.timeout, .failed(.timeout, .maybeSent))
    case .receiving: self = .failed(.timeout, .failed(.timeout, .responded))
    case .preparing, .waiting, .decoding, .handling: self = .nothing
    }
  }
}
