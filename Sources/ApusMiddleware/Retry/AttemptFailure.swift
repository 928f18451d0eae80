import ApusCore
import HTTPTypes

/// How an attempt failed, as far as it matters for whether there is another: pure.
enum AttemptFailure: Hashable {
  /// What an answer says.
  struct Answer: Hashable {
    var status: Int
    /// How long the server asks to wait.
    var delay: Duration?
    /// Whether the server says that it should be tried again.
    var verdict: Bool?
    /// What the policy's rule says.
    var judgement = RetryRule.Judgement.byStatus

    /// Whether the server had too many requests.
    var isThrottled: Bool {
      if case .temporary = judgement { return (400..<500).contains(status) }
      return status == 429
    }
  }

  /// The server cannot have seen the request.
  case notSent(CallError.Code)
  /// The server may have acted on it; nobody knows, or its answer broke off.
  case unknown(CallError.Code, RequestState)
  /// The server refused.
  case answered(Answer)
  /// It would fail again, or was refused on this side.
  case lasting(CallError.Code, RequestState)

  /// As a trace and an error tell it.
  var cause: FailedAttempt.Cause {
    switch self {
    case .notSent(let code): .failed(code, .notSent)
    case .unknown(let code, let state), .lasting(let code, let state): .failed(code, state)
    case .answered(let answer): .answered(status: answer.status)
    }
  }

  /// Whether the server can have seen the request.
  var wasSent: Bool {
    switch self {
    case .notSent, .lasting(_, .notSent): false
    case .unknown, .lasting, .answered: true
    }
  }
}

extension AttemptFailure {
  /// What became of an attempt that got no whole answer.
  init(_ error: TransportError) {
    // Content that cannot be made is no better at a second attempt.
    if !Self.isTemporary(error.kind) || error.subject == .content || error.underlying is OfflineRefusal {
      self = .lasting(error.code, error.requestState)
    } else if error.requestState == .notSent {
      self = .notSent(error.code)
    } else {
      self = .unknown(error.code, error.requestState)
    }
  }

  /// What became of one whose answer has a status of 400 or more.
  init(_ response: ResponseMessage, _ policy: RetryPolicy) {
    let fields = response.head.headerFields
    let verdict = policy.verdictFields.compactMap { name in fields[name].flatMap { Self.verdict($0) } }.first
    var answer = Answer(status: response.head.status.code, delay: response.retryAfter, verdict: verdict)
    if let rule = policy.rule {
      answer.judgement = rule.judge(response)
      if case .temporary(let delay?) = answer.judgement { answer.delay = max(.zero, delay) }
    }
    self = .answered(answer)
  }

  private static func verdict(_ text: String) -> Bool? {
    switch text.lowercased() {
    case "true": true
    case "false": false
    default: nil
    }
  }

  private static func isTemporary(_ kind: TransportError.Kind) -> Bool {
    switch kind {
    case .offline, .hostNotFound, .connectionFailed, .broken: true
    // What waited too long on this side would only wait again.
    case .timedOut(let phase): phase != .preparing && phase != .waiting
    // A certificate does not get better; a breaker, a queue or a transport that takes nothing has its reason.
    case .tls, .malformedResponse, .contentTooLarge, .declined, .unsupported: false
    }
  }
}
