import HTTPTypes

/// The failure of a call: the part of a ``CallError`` that is known before the call ends.
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
  var subject = TransportError.Source.server
  /// The message set by the code that created the error. `nil` means the text from the client's ``ErrorTexts``.
  var message: String?
}

/// The record of a call: the part of errors and responses that is known after the call has ended. It keeps neither
/// the call nor its client alive.
struct CallRecord: Sendable {
  /// Identifies the call among the calls of all clients. `nil` if an app created the error or response.
  var key: CallKey?
  var trace: Trace
  var attempts = 0
  var head: HTTPResponse?
  var protocolVersion: HTTPVersion?
  var trailers = HTTPFields()
  /// The URL of the last message.
  var url: MessageURL?
  var texts = ErrorTexts.english

  init(_ trace: Trace) {
    self.trace = trace
  }

  /// A box, so that copying a response costs one retain.
  final class Box: Sendable, CustomReflectable {
    let record: CallRecord

    init(_ record: CallRecord) {
      self.record = record
    }

    /// Empty, because the fields of the response may contain secrets.
    var customMirror: Mirror { Mirror(self, children: []) }
  }
}

/// The URL of a message. The text is created only when it is read.
struct MessageURL: Sendable {
  private let scheme: String?
  private let authority: String?
  private let target: String?

  init(_ head: HTTPRequest) {
    (scheme, authority, target) = (head.scheme, head.authority, head.path)
  }

  var origin: Origin? { scheme.flatMap { scheme in authority.flatMap { Origin(scheme: scheme, authority: $0) } } }
  var text: String { "\(scheme ?? "")://\(authority ?? "")\(target ?? "/")" }
}

/// The identity of a call within the process, which does not keep the call or its client alive.
struct CallKey: Sendable, Equatable {
  /// The identity of a client. Unique while a reference to it exists.
  final class Owner: Sendable {}

  let owner: Owner
  let serial: UInt64

  static func == (lhs: CallKey, rhs: CallKey) -> Bool {
    lhs.owner === rhs.owner && lhs.serial == rhs.serial
  }
}
