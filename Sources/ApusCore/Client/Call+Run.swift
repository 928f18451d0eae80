import HTTPTypes

extension Call {
  /// Runs the call, from its description to its value. All calls of all endpoint styles take this path.
  ///
  /// - Parameters:
  ///   - pipeline: the client's middlewares and transport.
  ///   - deliver: returns the value of an accepted response, off the caller's actor.
  /// - Throws: the original error. ``Call/fail(_:)`` converts it to a ``CallError`` with the complete trace.
  func run<Output: Sendable>(
    through pipeline: CompiledPipeline, deliver: (ResponseMessage) throws -> Output
  ) async throws -> Output {
    // 1. A call that was cancelled before it began sends nothing.
    try checkCancellation()
    // 2. Lower the description to a complete, validated message. Everything below is concrete.
    let message = try lowered()
    // 3. Pass the message through the middlewares to the transport. The result is the response to the last attempt.
    let response = try await Next(pipeline: pipeline, index: 0)(message, context: .entering(with: self))
    // 4. Accept or reject the response by its status. A message that is only described has no response.
    guard isAccepted(response) else { throw try await rejection(of: response) }
    // 5. Create the value: here, or on the global pool if the content is so large that decoding would block the
    //    executor.
    guard isLarge(response.content) else { return try deliver(response) }
    return try await delivered(response, by: deliver)
  }

  @inline(never)  // Few responses are that large: the frame of the other calls has no room for it.
  private func delivered<Output: Sendable>(
    _ response: ResponseMessage, by deliver: (ResponseMessage) throws -> Output
  ) async throws -> Output {
    try await withTaskExecutorPreference(globalConcurrentExecutor) { try deliver(response) }
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
    return request.description.acceptance.contains(response.statusCode)
  }

  private func isLarge(_ content: ResponseContent) -> Bool {
    runtime.executor != nil && (content.bytes?.count ?? 0) > runtime.executorDecodingLimit
  }

  /// Reads a rejected response. Of content that is still arriving, reads only as much as an error keeps.
  @inline(never)  // As above.
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
      retryAfter: RetryAfter.delay(in: response.head.headerFields),
      detail: content.undecoded.map { $0.isRegistered ? $0.detail : "" } ?? "")
  }
}

extension ResponseMapping {
  /// Returns a function that reads the value of an accepted response.
  @inline(never)  // Keeps its temporaries out of the frame that lives as long as the call.
  func reader(for call: Call) -> @Sendable (ResponseMessage) throws -> Value {
    { try value(of: $0, for: call) }
  }

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
    } catch let response as RejectedResponse {
      throw response
    } catch {
      let failure = DecodingFailure(error)
      var detail = failure.detail
      if let undecoded = content.undecoded {
        detail = undecoded.detail(because: error, failure.detail)
      } else if accept == .json, let type = content.mediaType, !type.isJSON {
        detail += " (it came as \(type.essence))"
      }
      throw RejectedResponse(
        code: .decoding, content: content, detail: detail, codingPath: failure.codingPath, underlying: error)
    }
  }
}
