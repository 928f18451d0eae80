import HTTPTypes

/// Why a call failed: the half of a ``CallError`` that is known before the call has ended.
struct CallFailure: Sendable {
  var code: CallError.Code
  var phase: CallPhase
  var requestState: RequestState
  var detail = ""
  var codingPath: String?
  var cancellation: CancellationReason?
  var rejection: Rejection?
  var content: Content?
  var retryAfter: Duration?
  var underlying: (any Error)?
  var subject = TransportError.Subject.server
  /// The sentence for a person that whoever made the error chose; `nil`: the client's texts have one.
  var sentence: String?
}

/// What is known of a call when it is over: the half of errors and responses that says what happened. A value, which
/// keeps neither the call nor its client alive.
struct CallRecord: Sendable {
  /// Tells the calls of all clients apart; `nil`: no call was made, the error or response is an app's own.
  var key: CallKey?
  var trace: Trace
  var attempts = 0
  var head: HTTPResponse?
  var trailers = HTTPFields()
  var texts = ErrorTexts.english

  init(_ trace: Trace) {
    self.trace = trace
  }

  /// A record of one reference, for responses, which are passed on by value.
  final class Box: Sendable, CustomReflectable {
    let record: CallRecord

    init(_ record: CallRecord) {
      self.record = record
    }

    /// Shows nothing: fields of the response may hold secrets.
    var customMirror: Mirror { Mirror(self, children: []) }
  }
}

/// Tells a call from all others of the process without keeping anything of it alive.
struct CallKey: Sendable, Equatable {
  /// Stands for a client: no other has the same as long as anybody holds it.
  final class Owner: Sendable {}

  let owner: Owner
  let serial: UInt64

  static func == (lhs: CallKey, rhs: CallKey) -> Bool {
    lhs.owner === rhs.owner && lhs.serial == rhs.serial
  }
}
