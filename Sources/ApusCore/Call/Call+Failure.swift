extension CallFailure {
  /// Creates the failure of a call from the error that ended the call.
  init(_ error: any Error, of call: Call) {
    if let error = error as? CallError, error.storage.record.key == call.key {
      self = error.storage.failure
      return
    }
    let state = call.progress
    // An error that a middleware throws before the first exchange did not break an exchange.
    let isEarly = call.attempts == 0 && state.requestState == .notSent
    self.init(
      code: isEarly ? .invalidRequest : .connectionLost, phase: state.phase, requestState: state.requestState,
      underlying: error)
    switch error {
    case let fault as CallFault:
      fill(from: fault)
    case let error as TransportError:
      fill(from: error)
      if let cause = error.underlying as? IncompleteRequest {
        content = Content(of: cause.response, coding: call.coding).bounded
      }
      // The call was admitted too late, or would have been. The error does not contain the limit, so it is added here.
      if error.code == .timeout, error.phase == .waiting, error.source == .trafficControl, let limit = call.nearestLimit
      {
        detail += " for \(limit)"
      }
    case let response as RejectedResponse:
      fill(from: response)
    case let error as CallError:
      fill(fromAnother: error)
    case let error as QueryEncodingError:
      code = .encoding
      detail = error.reason
      codingPath = error.name
    case is CancellationError:
      code = .cancelled
      cancellation = .caller
      underlying = nil
    default:
      detail = error.loggedReason
    }
  }

  /// Creates the failure of a call that was cancelled by the app or by a deadline.
  init(_ reason: CancellationReason, of call: Call) {
    let state = call.progress
    self.init(code: reason.code, phase: state.phase, requestState: state.requestState, cancellation: reason)
    if case .deadline(let phase) = reason {
      self.phase = phase
      detail = call.passedLimit(in: phase)
    }
  }
}

extension CallError {
  /// Creates the error of a running call, with the trace so far.
  init(_ error: any Error, of call: Call) {
    self.init(CallFailure(error, of: call), CallRecord(of: call))
  }

  /// Creates the error of a call that was cancelled by the app or by a deadline.
  init(_ reason: CancellationReason, of call: Call) {
    self.init(CallFailure(reason, of: call), CallRecord(of: call))
  }
}

/// A response that was rejected or could not be read.
struct RejectedResponse: Error {
  var code: CallError.Code = .rejected
  var rejection: Rejection?
  var content: Content
  var retryAfter: Duration?
  var detail = ""
  var codingPath: String?
  var underlying: (any Error)?
}

extension CallFailure {
  fileprivate mutating func fill(from fault: CallFault) {
    code = fault.code
    detail = fault.detail
    codingPath = fault.codingPath
    underlying = fault.underlying
  }

  fileprivate mutating func fill(from error: TransportError) {
    requestState = error.requestState
    detail = error.detail
    underlying = error.underlying
    retryAfter = error.retryAfter
    code = error.code
    subject = error.source
    if let phase = error.phase { self.phase = phase }
  }

  /// Copies the failure of another call that this call depended on, for example a token refresh. Phase, request state,
  /// trace and response do not change, and this call does not count as cancelled.
  fileprivate mutating func fill(fromAnother error: CallError) {
    detail = "needed another call, which failed (\(error.code.rawValue): \(error.endpoint))"
    guard !error.isCancellation else { return }
    code = error.code == .rejected ? .refused : error.code
    subject = error.storage.failure.subject
    message = error.storage.failure.message
    codingPath = error.codingPath
    cancellation = error.cancellation
    retryAfter = error.retryAfter
  }

  fileprivate mutating func fill(from response: RejectedResponse) {
    code = response.code
    requestState = .responded
    rejection = response.rejection
    content = response.content.bounded
    retryAfter = response.retryAfter
    detail = response.detail
    codingPath = response.codingPath
    underlying = response.underlying
  }
}

extension Content {
  /// The content, cut to the maximum size that an error keeps.
  var bounded: Content {
    guard data.count > CallError.contentLimit else { return self }
    var bounded = Content(
      data: data.prefix(CallError.contentLimit), mediaType: mediaType, status: status, coding: coding)
    bounded.undecoded = undecoded
    return bounded
  }
}

extension CallRecord {
  /// Creates a record of a call's progress so far. The record shares the array of events with the call, so that a
  /// record created after the last event copies no events.
  init(of call: Call) {
    (attempts, head, protocolVersion, trailers, url, trace) = call.snapshot {
      (
        $0.attempts, $0.head, $0.protocolVersion, $0.trailers, $0.message.map { MessageURL($0.head) },
        Trace(id: call.id, endpoint: call.endpoint, events: $0.events)
      )
    }
    key = call.key
    texts = call.errorTexts
  }
}

/// The description of a limit in error messages: its name, its value and the modifier that changes it.
extension Call {
  /// Returns the limit that ended the call in a phase, preceded by the reason why the call was waiting.
  func passedLimit(in phase: CallPhase) -> String {
    let (limits, waitedFor) = snapshot { ($0.limits, phase == .waiting ? $0.waitedFor : "") }
    let text =
      limits.expiry.flatMap { limits.defaultLimit?.text($0) } ?? hardLimit(limits).map { "exceeded \($0)" } ?? ""
    return waitedFor.isEmpty || text.isEmpty ? waitedFor + text : "\(waitedFor); \(text)"
  }

  /// The limit that ends the call first, or `nil` without a limit.
  var nearestLimit: String? {
    let limits = snapshot(\.limits)
    guard let defaultLimit = limits.defaultLimit, limits.end(at: runtime.clock.now) != limits.deadline else {
      return hardLimit(limits)
    }
    return defaultLimit.name
  }

  private func hardLimit(_ limits: CallLimits) -> String? {
    guard let deadline = limits.deadline else { return nil }
    let time = startInstant.duration(to: deadline)
    if time == options.timeout { return "the call's limit of \(time.plainText); change it with .timeout(_:)" }
    if deadline == inheritedDeadline {
      return "the inherited deadline, \(time.plainText) after its start; change that with withDeadline(_:_:) or the "
        + "outer call's .timeout(_:)"
    }
    return "a limit of \(time.plainText) that a middleware set"
  }
}

extension CallTimeLimit {
  fileprivate var name: String { "the default limit of \(limit.plainText); change it with .timeout(_:)" }

  fileprivate func text(_ expiry: Expiry) -> String {
    switch expiry {
    case .total: "exceeded \(name)"
    case .stall: "exceeded the stall limit of \(stall.plainText); change it with ExchangeTimeouts(stall:)"
    case .floor:
      "content was transferred slower than \(Self.floor) bytes/s over \(Self.window.plainText); allow that with .timeout(_:)"
    }
  }
}
