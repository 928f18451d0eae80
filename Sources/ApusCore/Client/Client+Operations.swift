// For operations of sister targets that consist of several calls, such as a download that continues after a connection
// was lost.

extension Client {
  /// The client's clock and random numbers.
  package var runtime: Runtime { host.runtime }

  /// Creates the error of an operation that failed before its first call or after its last.
  ///
  /// - Parameters:
  ///   - code: the kind of failure.
  ///   - request: the request of the operation's calls.
  ///   - cause: the reason; becomes the error's ``CallError/detail`` and ``CallError/underlying``.
  ///   - message: the sentence to show to a person. `nil` means the text from the client's ``ErrorTexts``.
  package func failure<Value>(
    _ code: CallError.Code, of request: Request<Value>, _ cause: any LoggableError, message: String? = nil
  ) -> CallError {
    let failure = CallFailure(
      code: code, phase: .preparing, requestState: .notSent, detail: cause.description, underlying: cause,
      message: message)
    var record = CallRecord(Trace(id: .none, endpoint: EndpointIdentity(of: request.box)))
    record.texts = host.settings.errorTexts
    return CallError(failure, record)
  }
}

extension CallError {
  /// Returns the error of an operation of which this error's call was a part.
  ///
  /// - Parameters:
  ///   - cause: the cause, which becomes ``underlying``.
  ///   - code: the kind of failure. `nil` means that of this error.
  ///   - message: the sentence to show to a person. `nil` means that of this error.
  package func caused(by cause: any Error, code: Code? = nil, message: String? = nil) -> CallError {
    var failure = storage.failure
    failure.code = code ?? failure.code
    failure.underlying = cause
    failure.message = message ?? failure.message
    return CallError(failure, storage.record)
  }
}
