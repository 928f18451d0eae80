import HTTPTypes

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

  /// Takes down what has happened to a call so far. It shares the events with the call, so taken after the last one it
  /// copies none.
  init(of call: Call) {
    (attempts, head, trailers, trace) = call.snapshot {
      ($0.attempts, $0.head, $0.trailers, Trace(id: call.id, endpoint: call.endpoint, events: $0.events))
    }
    key = call.key
    texts = call.errorTexts
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
