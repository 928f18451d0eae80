import HTTPTypes

// Errors that apps make: in fakes, previews and services, and from errors of other types.

extension CallError {
  /// Makes an error, for a fake, a preview, or a service that reports a failure of its own.
  ///
  /// Everything else gets a default that fits the code, and can be set afterwards:
  ///
  /// <!-- sample: own-error -->
  /// ```swift
  /// var busy = CallError(.rejected, status: 429, sentence: "Too many requests. Wait a moment.")
  /// busy.retryAfter = .seconds(30)
  /// print(busy.sentence)
  /// ```
  ///
  /// - Parameters:
  ///   - code: what failed.
  ///   - status: the status of the response. Default: `nil`, there was none.
  ///   - sentence: the sentence to show to a person. Default: `nil`, the sentence of ``ErrorTexts/english``.
  ///   - underlying: the cause. Default: `nil`.
  public init(_ code: Code, status: Int? = nil, sentence: String? = nil, underlying: (any Error)? = nil) {
    var failure = CallFailure(
      code: code, phase: code.usualPhase, requestState: status == nil ? code.usualState : .answered,
      underlying: underlying, sentence: sentence)
    var record = CallRecord(Trace(id: .none, endpoint: .none))
    if let status {
      record.head = HTTPResponse(status: .init(code: min(max(status, 0), 999)))
      if code == .rejected { failure.rejection = Rejection(status: status, message: sentence) }
    }
    if failure.requestState != .notSent { record.attempts = 1 }
    if let error = underlying { failure.detail = CallFault.detail(of: error) }
    if code == .cancelled { failure.cancellation = .requested }
    self.init(failure, record)
  }

  /// Converts any error, for functions that throw `CallError` and call functions that throw any error.
  ///
  /// A `CallError` stays as it is, `CancellationError` gets the code `cancelled`, and every other error the code `handler`,
  /// with the error as ``underlying``.
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
  /// Makes a rejection, for fakes and previews.
  ///
  /// - Parameters:
  ///   - status: the status of the response.
  ///   - message: the server's sentence. Default: `nil`.
  ///   - code: the server's code. Default: `nil`.
  ///   - fields: what the server said about single fields. Default: nothing.
  ///   - value: the rejection as the endpoint's own type, see ``CallError/rejection(as:)``. Default: `nil`.
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
    case .declined, .offline, .cancelled: .waiting
    case .hostNotFound, .connectionFailed, .tls: .connecting
    case .timeout, .broken: .awaitingHead
    case .malformedResponse, .contentTooLarge: .receiving
    case .rejected, .decoding: .decoding
    case .handler: .handling
    }
  }

  /// The request state that failures with this code usually have.
  fileprivate var usualState: RequestState {
    switch self {
    case .invalidRequest, .encoding, .declined, .offline, .hostNotFound, .connectionFailed, .tls, .cancelled: .notSent
    case .timeout, .broken: .maybeSent
    case .malformedResponse, .contentTooLarge, .rejected, .decoding, .handler: .answered
    }
  }
}

extension CallID {
  /// The id of errors and responses that no call made.
  static let none = CallID(serial: 0)
}

extension EndpointIdentity {
  /// The endpoint of errors and responses that no call made.
  static let none = EndpointIdentity(method: .get, template: "")

  var isNone: Bool { type == nil && template.isEmpty }
}
