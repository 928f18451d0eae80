import HTTPTypes

/// Why a call failed: the part of a ``CallError`` that is known before the call has ended.
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
  /// The sentence that was chosen where the error was made; `nil`: the client's texts have one.
  var sentence: String?
}

/// What happened to a call: the part of errors and responses that is known when the call has ended. A value: it keeps
/// neither the call nor its client alive.
struct CallRecord: Sendable {
  /// Identifies the call among those of all clients; `nil`: an app made the error or response.
  var key: CallKey?
  var trace: Trace
  var attempts = 0
  var head: HTTPResponse?
  var trailers = HTTPFields()
  var texts = ErrorTexts.english

  init(_ trace: Trace) {
    self.trace = trace
  }

  /// One reference to a record, for responses, which are passed by value.
  final class Box: Sendable, CustomReflectable {
    let record: CallRecord

    init(_ record: CallRecord) {
      self.record = record
    }

    /// Shows nothing: the fields of the response may hold secrets.
    var customMirror: Mirror { Mirror(self, children: []) }
  }
}

/// Identifies a call within the process without keeping anything of it alive.
struct CallKey: Sendable, Equatable {
  /// Stands for a client: unique as long as a reference to it exists.
  final class Owner: Sendable {}

  let owner: Owner
  let serial: UInt64

  static func == (lhs: CallKey, rhs: CallKey) -> Bool {
    lhs.owner === rhs.owner && lhs.serial == rhs.serial
  }
}
