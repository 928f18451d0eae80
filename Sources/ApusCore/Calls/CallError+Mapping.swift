extension CallError {
  /// Turns whatever was thrown on the path of a call into its one error.
  init(_ error: any Error, of call: Call) {
    if let error = error as? CallError, error.storage.call === call {
      self = error
      return
    }
    let state = call.progress
    // What a middleware throws before an exchange has begun did not break one.
    let isEarly = call.attempts == 0 && state.requestState == .notSent
    var facts = Facts(
      code: isEarly ? .invalidRequest : .broken, phase: state.phase, requestState: state.requestState,
      underlying: error)
    switch error {
    case let fault as CallFault:
      facts.fill(from: fault)
    case let error as TransportError:
      facts.fill(from: error)
    case let refusal as Refusal:
      facts.fill(from: refusal)
    case let error as CallError:
      facts.fill(fromAnother: error)
    case let error as QueryEncodingError:
      facts.code = .encoding
      facts.detail = error.reason
      facts.place = error.name
    case is CancellationError:
      facts.code = .cancelled
      facts.cancellation = .caller
      facts.underlying = nil
    default:
      facts.detail = "\(type(of: error))"
    }
    self.init(facts, call: call)
  }

  /// The error of a call that somebody or a deadline ended.
  init(_ reason: CancellationReason, of call: Call) {
    let state = call.progress
    var facts = Facts(
      code: reason.code, phase: state.phase, requestState: state.requestState, cancellation: reason)
    if case .deadline(let phase) = reason {
      facts.phase = phase
      if phase == .waiting { facts.detail = call.snapshot(\.waitedFor) }
    }
    self.init(facts, call: call)
  }
}

/// An answer that was not accepted, or that could not be read.
struct Refusal: Error {
  var code: CallError.Code = .rejected
  var rejection: Rejection?
  var content: Content
  var retryAfter: Duration?
  var detail = ""
  var place: String?
  var underlying: (any Error)?
}

extension CallError.Facts {
  fileprivate mutating func fill(from fault: CallFault) {
    code = fault.code
    detail = fault.detail
    place = fault.place
    underlying = fault.underlying
  }

  fileprivate mutating func fill(from error: TransportError) {
    requestState = error.requestState
    detail = error.detail
    underlying = error.underlying
    retryAfter = error.retryAfter
    code = error.code
    subject = error.subject
    if case .timedOut(let phase) = error.kind { self.phase = phase }
  }

  /// Takes over why another call failed that this one needed, for example one that fetches a token. Phase, state
  /// and trace stay this call's, and nobody has cancelled it.
  fileprivate mutating func fill(fromAnother error: CallError) {
    detail = "needed another call, which failed (\(error.code.rawValue): \(error.endpoint))"
    guard !error.isCancellation else { return }
    code = error.code
    subject = error.storage.subject
    place = error.place
    cancellation = error.cancellation
    rejection = error.rejection
    content = error.content
    retryAfter = error.retryAfter
  }

  fileprivate mutating func fill(from refusal: Refusal) {
    code = refusal.code
    requestState = .answered
    rejection = refusal.rejection
    content = refusal.content.bounded
    retryAfter = refusal.retryAfter
    detail = refusal.detail
    place = refusal.place
    underlying = refusal.underlying
  }
}

extension Content {
  fileprivate var bounded: Content {
    guard data.count > CallError.contentLimit else { return self }
    return Content(data: data.prefix(CallError.contentLimit), mediaType: mediaType, status: status, coding: coding)
  }
}
