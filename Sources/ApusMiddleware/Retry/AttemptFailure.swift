import ApusCore
import HTTPTypes

/// The failure of an attempt, reduced to the facts that determine whether it is retried.
enum AttemptFailure: Hashable {
  /// A response with a status of 400 or more.
  struct Response: Hashable {
    var status: Int
    /// The delay that the server or the policy's rule requests.
    var delay: Duration?
    /// Whether the server requests a retry, in one of the policy's ``RetryPolicy/retryHintFields``; `nil`: unknown.
    var retryHint: Bool?
    /// The decision of the policy's rule.
    var ruleDecision = RetryRule.Decision.byStatus

    /// Whether the server limits the rate of calls.
    var isThrottled: Bool {
      if case .temporary = ruleDecision { return (400..<500).contains(status) }
      return status == 429
    }
  }

  /// The server cannot have received the request.
  case notSent(CallError.Code)
  /// The server may have acted on the request; the response is missing or incomplete.
  case unknown(CallError.Code, RequestState)
  /// The server responded with an error status.
  case responded(Response)
  /// A retry would fail again, or the client refused the attempt on purpose.
  case lasting(CallError.Code, RequestState)

  /// The cause, for traces and errors.
  var cause: FailedAttempt.Cause {
    switch self {
    case .notSent(let code): .failed(code, .notSent)
    case .unknown(let code, let state), .lasting(let code, let state): .failed(code, state)
    case .responded(let response): .status(response.status)
    }
  }

  /// Whether the server may have received the request.
  var wasSent: Bool {
    switch self {
    case .notSent, .lasting(_, .notSent): false
    case .unknown, .lasting, .responded: true
    }
  }

  /// Whether the request was sent, but its response did not arrive in time.
  var isUnanswered: Bool { self == .unknown(.timeout, .maybeSent) }
}

extension AttemptFailure {
  /// Creates the failure of an attempt without a complete response.
  init(_ error: TransportError) {
    // Content that cannot be produced would fail again. A server that responded with success may have acted on a part
    // of the content.
    if !Self.isTemporary(error) || error.source == .content || error.isIncompleteRequest
      || error.underlying is OfflineRefusal
    {
      self = .lasting(error.code, error.requestState)
    } else if error.requestState == .notSent {
      self = .notSent(error.code)
    } else {
      self = .unknown(error.code, error.requestState)
    }
  }

  /// Creates the failure of an attempt whose response has a status of 400 or more.
  init(_ response: ResponseMessage, _ policy: RetryPolicy) {
    let fields = response.head.headerFields
    let retryHint = policy.retryHintFields.compactMap { name in fields[name].flatMap { Self.retryHint($0) } }.first
    var summary = Response(status: response.statusCode, delay: response.retryAfter, retryHint: retryHint)
    if let rule = policy.rule {
      summary.ruleDecision = rule.decide(response)
      if case .temporary(let delay?) = summary.ruleDecision { summary.delay = max(.zero, delay) }
    }
    self = .responded(summary)
  }

  private static func retryHint(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true": true
    case "false": false
    default: nil
    }
  }

  private static func isTemporary(_ error: TransportError) -> Bool {
    switch error.code {
    case .offline, .hostNotFound, .connectionFailed, .connectionLost: true
    // Another wait in the client would take as long again, unless only the attempt timed out: the refresh may have
    // succeeded meanwhile, or the calls ahead in the queue may have finished.
    case .timeout where error.phase == .waiting: error.endsAttemptOnly
    case .timeout: error.phase != .preparing
    // An invalid certificate would fail again, and refusals by a breaker, a full queue or for an unsupported request
    // are final.
    default: false
    }
  }
}
