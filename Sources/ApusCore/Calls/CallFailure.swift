/// Why a call failed: the half of a ``CallError`` that is known before the call has ended.
struct CallFailure: Sendable {
  var code: CallError.Code
  var phase: CallPhase
  var requestState: RequestState
  var detail = ""
  var place: String?
  var cancellation: CancellationReason?
  var rejection: Rejection?
  var content: Content?
  var retryAfter: Duration?
  var underlying: (any Error)?
  var subject = TransportError.Subject.server
  /// The sentence for a person that whoever made the error chose; `nil`: the client's texts have one.
  var sentence: String?
}
