package import HTTPTypes

// For operations of sister targets that consist of several calls, such as a download that continues after a connection
// was lost.

extension Client {
  /// The client's clock and random numbers.
  package var runtime: Runtime { host.runtime }

  /// Starts a task that inherits nothing, for work that outlives the call that asked for it.
  package func spawnDetached(_ operation: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
    host.spawner.spawnDetached(operation)
  }

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

extension Request {
  /// The request for an operation whose calls must all belong to one account. Another operation may have chosen it.
  package var ofOnePrincipal: Request<Value> {
    guard options.values[CommonPrincipalKey.self] == nil else { return self }
    return setting(CommonPrincipalKey.self, CommonPrincipal())
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

extension CallError {
  /// The head of the last response, or `nil` if there was none.
  package var head: HTTPResponse? { storage.record.head }
  /// Whether the content to send could not be produced, so that no server and no connection is to blame.
  package var comesFromContent: Bool { storage.failure.subject == .content }
}

extension Response where Value == Content {
  /// Returns the response with the value that an endpoint's mapping reads, for an operation that learns only from a
  /// response whether it is the endpoint's.
  ///
  /// - Throws: ``CallError`` with the code `decoding`.
  package func mapped<Other: Sendable>(by mapping: ResponseMapping<Other>) throws(CallError) -> Response<Other> {
    do {
      return Response<Other>(value: try mapping.read(value), box)
    } catch {
      let cause = DecodingFailure(error)
      let failure = CallFailure(
        code: .decoding, phase: .decoding, requestState: .responded, detail: cause.detail,
        codingPath: cause.codingPath, content: value.bounded, underlying: error)
      throw CallError(failure, box.record)
    }
  }
}

extension ResponseMapping {
  /// Returns a rejection that the endpoint expects as a value, see ``Endpoint/outcome(rejectedAs:)``. `nil` for all
  /// other errors.
  package func value(of error: CallError) -> Value? {
    guard let rejected, let value = error.rejection?.value else { return nil }
    return rejected(value)
  }
}
