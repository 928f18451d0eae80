package import HTTPTypes

// For operations in other targets that consist of several calls. For example, a download continues with another call
// after its connection was lost.

extension Client {
  /// The client's clock and random numbers.
  package var runtime: Runtime { host.runtime }

  /// Starts a task that inherits nothing, for work that outlives the call that started it.
  package func spawnDetached(_ operation: @escaping @Sendable @concurrent () async -> Void) -> Task<Void, Never> {
    host.spawner.spawnDetached(operation)
  }

  /// Creates the error of an operation that failed before its first call or after its last call.
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
  /// The request for an operation whose calls must all belong to one account. Unchanged if an outer operation has
  /// already set ``CommonPrincipalKey``.
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
  ///   - code: the kind of failure. `nil` means the code of this error.
  ///   - message: the sentence to show to a person. `nil` means the message of this error.
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
  /// Whether the call failed because the content to send could not be produced, not because of a server or a
  /// connection.
  package var comesFromContent: Bool { storage.failure.subject == .content }
}

extension Response where Value == Content {
  /// Returns the response with the value that `mapping` reads from its content. For operations that can decide only
  /// after a response has arrived whether it is the response to the endpoint.
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
  /// Returns the value of a rejection that the endpoint expects (``Endpoint/outcome(rejectedAs:)``), or `nil` for all
  /// other errors.
  package func value(of error: CallError) -> Value? {
    error.rejection?.value.flatMap { try? rejected?($0) }
  }
}
