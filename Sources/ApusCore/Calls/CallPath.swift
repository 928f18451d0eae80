import HTTPTypes

extension Call {
  /// The path of a call, from description to value: every call of every endpoint style takes it.
  ///
  /// - Parameter deliver: makes the outcome of an accepted response, off the caller's actor.
  /// - Throws: what went wrong on the way, of which ``fail(_:)`` makes a ``CallError`` with all of the trace.
  func run<Output: Sendable>(deliver: (ResponseMessage) throws -> Output) async throws -> Output {
    // 1. A call that was cancelled before it began leaves nothing on the wire.
    try checkCancellation()
    // 2. Lower the description to a complete, validated message. Everything below is concrete.
    let message = try lowered()
    // 3. Through the middlewares to the transport and back: the response to the last attempt.
    let response = try await Next(path: path, index: 0)(message, context: limitedContext())
    // 4. Is it an answer or a refusal? A message that is only described has neither.
    guard isAccepted(response) else { throw try await refusal(response, of: request.description) }
    // 5. Make the outcome: where the bytes are, or, of many, where that holds up nobody.
    guard isLarge(response.content) else { return try deliver(response) }
    return try await withTaskExecutorPreference(globalConcurrentExecutor) { try deliver(response) }
  }

  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
  private func lowered() throws -> RequestMessage {
    let message = try request.message(
      at: prepared.base.get(), coding: coding, commonAccept: prepared.accept)
    keep(message)
    record(.prepared)
    return message
  }

  private var path: Path { client.path(joining: isShareable, binding: prepared.bindsCalls) }
  private var isShareable: Bool { delivery == .buffered && (joins || coalesces) }

  @inline(never)  // As above.
  private func isAccepted(_ response: ResponseMessage) -> Bool {
    guard delivery != .described else { return true }
    settle(response)
    return request.description.acceptance.contains(response.head.status.code)
  }

  private func isLarge(_ content: ResponseContent) -> Bool {
    runtime.executor != nil && (content.bytes?.count ?? 0) > runtime.decodedOnExecutor
  }

  /// What a refused response says; content that still arrives is read as far as an error may keep it.
  private func refusal(_ response: ResponseMessage, of request: RequestDescription) async throws -> Refusal {
    var response = response
    if response.content.bytes == nil {
      response.content = ResponseContent(try await response.content.prefix(CallError.contentLimit) { received($0) })
    }
    guard isLarge(response.content) else { return read(response, of: request) }
    return await withTaskExecutorPreference(globalConcurrentExecutor) { [response] in read(response, of: request) }
  }

  private func read(_ response: ResponseMessage, of request: RequestDescription) -> Refusal {
    let content = Content(of: response, coding: coding)
    return Refusal(
      rejection: Rejection(content, decoder: request.rejectionDecoder), content: content,
      retryAfter: RetryAfter.delay(in: response.head.headerFields))
  }
}

extension ResponseMapping {
  /// Reads the value out of an accepted response.
  func value(of response: ResponseMessage, for call: Call) throws -> Value {
    let content = Content(of: response, coding: call.coding)
    do {
      let value = try read(content)
      call.record(.decoded)
      return value
    } catch let envelope as EnvelopeRejection {
      let decoder = call.request.description.rejectionDecoder
      throw Refusal(rejection: Rejection(envelope, content, decoder: decoder), content: content)
    } catch {
      let failure = DecodingFailure(error)
      var detail = failure.detail
      if accept == .json, let type = content.mediaType, !type.isJSON { detail += " (it came as \(type.essence))" }
      throw Refusal(
        code: .decoding, content: content, detail: detail, place: failure.place, underlying: error)
    }
  }
}
