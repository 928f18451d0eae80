import HTTPTypes

// Errors that apps create: in fakes, previews and services, and from errors of other types.

extension CallError {
  /// Creates an error for a fake, a preview, or a service that reports its own failures.
  ///
  /// All other properties get defaults that fit the code. Set them afterwards if needed:
  ///
  /// <!-- sample: own-error -->
  /// ```swift
  /// var busy = CallError(.rejected, status: 429, message: "Too many requests. Wait a moment.")
  /// busy.retryAfter = .seconds(30)
  /// print(busy.message)
  /// ```
  ///
  /// - Parameters:
  ///   - code: the kind of failure.
  ///   - status: the status of the response. Default: `nil`, no response.
  ///   - message: the sentence to show to a person. Default: `nil`, the sentence of ``ErrorTexts/english``.
  ///   - underlying: the cause. Default: `nil`.
  public init(_ code: Code, status: Int? = nil, message: String? = nil, underlying: (any Error)? = nil) {
    var failure = CallFailure(
      code: code, phase: code.usualPhase, requestState: status == nil ? code.usualState : .responded,
      underlying: underlying, message: message)
    var record = CallRecord(Trace(id: .none, endpoint: .none))
    if let status {
      record.head = HTTPResponse(status: .init(code: min(max(status, 0), 999)))
      if code == .rejected { failure.rejection = Rejection(status: status, message: message) }
    }
    if failure.requestState != .notSent { record.attempts = 1 }
    if let error = underlying { failure.detail = error.loggedReason }
    if code == .cancelled { failure.cancellation = .requested }
    self.init(failure, record)
  }

  /// Converts any error, for functions that throw `CallError` and call functions that throw other errors.
  ///
  /// A `CallError` is kept unchanged. `CancellationError` gets the code `cancelled`, and any other error gets the
  /// code `handler` and becomes ``underlying``.
  public init(converting error: any Error) {
    switch error {
    case let error as CallError: self = error
    case is CancellationError:
      self.init(.cancelled)
      cancellation = .caller
    default: self.init(.handler, underlying: error)
    }
  }
}

extension Rejection {
  /// Creates a rejection for fakes and previews.
  ///
  /// - Parameters:
  ///   - status: the status of the response.
  ///   - message: the server's message. Default: `nil`.
  ///   - code: the server's code. Default: `nil`.
  ///   - fields: the errors of single fields. Default: none.
  ///   - value: the rejection as a type of the endpoint, see ``CallError/rejection(as:)``. Default: `nil`.
  public init(
    status: Int, message: String? = nil, code: String? = nil, fields: [FieldError] = [], value: (any Sendable)? = nil
  ) {
    self.init(status: status, message: message, code: code, fields: fields, problem: nil, value: value)
  }
}

extension CallError.Code {
  /// The phase in which calls usually fail with this code.
  fileprivate var usualPhase: CallPhase {
    switch self {
    case .invalidRequest, .encoding: .preparing
    case .refused, .offline, .cancelled: .waiting
    case .hostNotFound, .connectionFailed, .tls: .connecting
    case .timeout, .connectionLost: .awaitingHead
    case .malformedResponse, .contentTooLarge: .receiving
    case .rejected, .decoding: .decoding
    case .handler: .handling
    }
  }

  /// The request state that failures with this code usually have.
  fileprivate var usualState: RequestState {
    switch self {
    case .invalidRequest, .encoding, .refused, .offline, .hostNotFound, .connectionFailed, .tls, .cancelled: .notSent
    case .timeout, .connectionLost: .maybeSent
    case .malformedResponse, .contentTooLarge, .rejected, .decoding, .handler: .responded
    }
  }
}

extension CallID {
  /// The id of errors and responses that do not come from a call.
  static let none = CallID(serial: 0)
}

extension EndpointIdentity {
  /// The endpoint of errors and responses that do not come from a call.
  static let none = EndpointIdentity(method: .get, template: "")

  var isNone: Bool { type == nil && template.isEmpty }
}
