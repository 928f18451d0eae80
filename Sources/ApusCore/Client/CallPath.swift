import HTTPTypes

extension Call {
  /// Takes the call along its path, from description to value. Every call of every endpoint style takes it.
  ///
  /// - Parameters:
  ///   - path: the client's middlewares and transport.
  ///   - deliver: makes the value of an accepted response, off the caller's actor.
  /// - Throws: the failure as it happened; ``Call/fail(_:)`` turns it into a ``CallError`` with the whole trace.
  func take<Output: Sendable>(
    _ path: Path, deliver: (ResponseMessage) throws -> Output
  ) async throws -> Output {
    // 1. A call that was cancelled before it began sends nothing.
    try checkCancellation()
    // 2. Lower the description to a complete, validated message. Everything below is concrete.
    let message = try lowered()
    // 3. Through the middlewares to the transport and back: the response to the last attempt.
    let response = try await Next(path: path, index: 0)(message, context: .entering(with: self))
    // 4. Accept or reject the response by its status. A message that is only described has none.
    guard isAccepted(response) else { throw try await rejection(of: response) }
    // 5. Make the value: here, or on the global pool if there is so much content that decoding would hold up the executor.
    guard isLarge(response.content) else { return try deliver(response) }
    return try await withTaskExecutorPreference(globalConcurrentExecutor) { try deliver(response) }
  }

  @inline(never)  // Its temporaries would be kept for as long as the call waits.
  private func lowered() throws -> RequestMessage {
    let message = try request.message(at: prepared.base.get(), coding: coding, commonAccept: prepared.accept)
    keep(message)
    record(.prepared)
    return message
  }

  @inline(never)  // As above.
  private func isAccepted(_ response: ResponseMessage) -> Bool {
    guard delivery != .described else { return true }
    settle(response)
    return request.description.acceptance.contains(response.head.status.code)
  }

  private func isLarge(_ content: ResponseContent) -> Bool {
    runtime.executor != nil && (content.bytes?.count ?? 0) > runtime.decodedOnExecutor
  }

  /// Reads a rejected response; of content that still arrives, as much as an error keeps.
  private func rejection(of response: ResponseMessage) async throws -> RejectedResponse {
    var response = response
    if response.content.bytes == nil {
      response.content = ResponseContent(try await response.content.prefix(CallError.contentLimit) { received($0) })
    }
    guard isLarge(response.content) else { return rejectedResponse(response) }
    return await withTaskExecutorPreference(globalConcurrentExecutor) { [response] in rejectedResponse(response) }
  }

  private func rejectedResponse(_ response: ResponseMessage) -> RejectedResponse {
    let content = Content(of: response, coding: coding)
    return RejectedResponse(
      rejection: Rejection(content, decoder: request.description.rejectionDecoder), content: content,
      retryAfter: RetryAfter.delay(in: response.head.headerFields))
  }
}

extension ResponseMapping {
  /// Reads the value of an accepted response.
  func value(of response: ResponseMessage, for call: Call) throws -> Value {
    let content = Content(of: response, coding: call.coding)
    do {
      let value = try read(content)
      call.record(.decoded)
      return value
    } catch let envelope as EnvelopeRejection {
      let decoder = call.request.description.rejectionDecoder
      throw RejectedResponse(rejection: Rejection(envelope, content, decoder: decoder), content: content)
    } catch {
      let failure = DecodingFailure(error)
      var detail = failure.detail
      if accept == .json, let type = content.mediaType, !type.isJSON { detail += " (it came as \(type.essence))" }
      throw RejectedResponse(
        code: .decoding, content: content, detail: detail, codingPath: failure.codingPath, underlying: error)
    }
  }
}
