import HTTPTypes

extension Call {
  /// Performs the call: registers it, runs it in a task of the client and waits for its output. All calls use this
  /// function, regardless of the endpoint's style.
  ///
  /// Ends the call as the last step, so that a call that was superseded in the meantime never returns a value. A
  /// streamed call continues until the reader of its response ends the call with ``succeed()`` or ``fail(_:)``.
  ///
  /// The functions below throw instead of returning a `Result` or an optional value, because a generic function that
  /// uses such a type looks up its metadata for every call.
  ///
  /// - Parameters:
  ///   - deliver: returns the output for an accepted response, off the caller's actor.
  ///   - expected: converts the value of an expected rejection to an output, and throws for other values. Default:
  ///     `nil`, no rejection is expected.
  /// - Throws: ``CallError`` with the complete trace.
  func perform<Output: Sendable>(
    _ deliver: @escaping @Sendable (ResponseMessage) throws -> Output,
    expecting expected: (@Sendable (any Sendable) throws -> Output)? = nil
  ) async throws(CallError) -> Output {
    let output: Output
    do {
      try register()
      output = try await waited(for: deliver)
    } catch {
      return try value(of: fail(error), expecting: expected)
    }
    if delivery != .streamed { try succeed() }
    return output
  }

  /// Runs the call in a task of the client and waits for its output. Cancelling the caller's task cancels the call.
  ///
  /// A function of its own, because each function with an isolated parameter switches to the caller's actor once, and
  /// once more after each `await` that is not its last step.
  private func waited<Output: Sendable>(
    for deliver: @escaping @Sendable (ResponseMessage) throws -> Output,
    isolation: isolated (any Actor)? = #isolation
  ) async throws -> Output {
    try await withTaskCancellationHandler {
      // Using `isolation` keeps this closure on the caller's actor.
      try await task(for: isolation, deliver).value
    } onCancel: {
      cancel(.caller)
    }
  }

  /// Runs the call in its task, from its description to its output.
  ///
  /// - Throws: the original error.
  private func run<Output: Sendable>(_ deliver: (ResponseMessage) throws -> Output) async throws -> Output {
    // 1. A call that was cancelled before it began sends nothing.
    try checkCancellation()
    // 2. Build the complete, validated message from the description. The steps below use only the message.
    let message = try makeMessage()
    // 3. Pass the message through the middlewares to the transport. The result is the response to the last attempt.
    let response = try await passed(message)
    // 4. Accept or reject the response by its status. A described call has no response.
    guard isAccepted(response) else { throw try await rejection(of: response) }
    // 5. Create the output: here, or on the global pool if the content is so large that decoding would block the
    //    executor.
    guard isLarge(response.content) else { return try deliver(response) }
    return try await delivered(response, by: deliver)
  }

  // MARK: Steps

  /// Passes a message through the middlewares to the transport.
  ///
  /// A function of its own, because the frame of a generic function would hold more.
  @inline(never)
  private func passed(_ message: RequestMessage) async throws -> ResponseMessage {
    let (context, first) = try host.pipeline.entering(with: self)
    guard let shortcut = host.pipeline.shortcut else {
      return try await Next(pipeline: host.pipeline, index: first)(message, context: context)
    }
    var number: UInt64?
    if first == host.pipeline.shortcutIndex {
      switch shortcut.begin(message, context) {
      case .response(let response): return response
      case .skip(let given): number = given
      case .pass: break
      }
    }
    let next = Next(pipeline: host.pipeline, index: number == nil ? first : first + 1)
    let response: ResponseMessage
    do {
      response = try await next(message, context: context)
    } catch {
      if let number { shortcut.fail(number) }
      throw error
    }
    if shortcut.end(number, response, context) { return response }
    return try await shortcut.finish(response, to: message, context, Skip(number: number, next: next))
  }

  /// Returns the output of an expected rejection.
  ///
  /// - Throws: all other failures.
  private func value<Output>(
    of failure: CallError, expecting expected: (@Sendable (any Sendable) throws -> Output)?
  ) throws(CallError) -> Output {
    guard let expected, let rejection = failure.rejection?.value else { throw failure }
    do { return try expected(rejection) } catch { throw failure }
  }

  /// Registers the call and ends the calls that it supersedes.
  private func register() throws {
    recordStart()
    // A call that has already ended does not supersede other calls.
    guard !Task.isCancelled else {
      announce()
      throw CancellationError()
    }
    guard delivery == .described || host.registry.admit(self) else {
      throw CallFault(.refused, "a call with this id is running")
    }
    announce()
  }

  /// Starts the call's task.
  private func task<Output: Sendable>(
    for caller: (any Actor)?, _ deliver: @escaping @Sendable (ResponseMessage) throws -> Output
  ) -> Task<Output, any Error> {
    let task = host.spawner.spawn(for: caller) {
      defer { self.callerClockHold?.begin() }
      return try await self.run(deliver)
    }
    attach(task)
    callerClockHold?.end()
    return task
  }

  private func delivered<Output: Sendable>(
    _ response: ResponseMessage, by deliver: (ResponseMessage) throws -> Output
  ) async throws -> Output {
    try await withTaskExecutorPreference(globalConcurrentExecutor) { try deliver(response) }
  }

  private func makeMessage() throws -> RequestMessage {
    let message = try request.message(at: prepared.baseURL.get(), coding: coding, commonAccept: prepared.accept)
    setMessage(message)
    record(.prepared)
    return message
  }

  private func isAccepted(_ response: ResponseMessage) -> Bool {
    guard delivery != .described else { return true }
    finish(with: response)
    return request.description.acceptance.contains(response.statusCode)
  }

  private func isLarge(_ content: ResponseContent) -> Bool {
    runtime.executor != nil && (content.bytes?.count ?? 0) > runtime.executorDecodingLimit
  }

  /// Reads a rejected response. If its content is still arriving, reads at most the number of bytes that an error
  /// stores.
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

  /// Reads the value of an accepted response.
  ///
  /// - Parameters:
  ///   - read: the function of the endpoint's mapping.
  ///   - accepted: the media type of the mapping.
  fileprivate func value<Value>(
    of response: ResponseMessage, by read: @Sendable (Content) throws -> Value, _ accepted: AcceptedType
  ) throws -> Value {
    let content = Content(of: response, coding: coding)
    do {
      let value = try read(content)
      record(.decoded)
      return value
    } catch let envelope as EnvelopeRejection {
      let decoder = request.description.rejectionDecoder
      throw RejectedResponse(rejection: Rejection(envelope, content, decoder: decoder), content: content)
    } catch let response as RejectedResponse {
      throw response
    } catch {
      let failure = DecodingFailure(error)
      var detail = failure.detail
      if let undecoded = content.undecoded {
        detail = undecoded.detail(because: error, failure.detail)
      } else if accepted.defaultMediaType == .json, let type = content.mediaType, !type.isJSON {
        detail += " (it came as \(type.essence))"
      }
      throw RejectedResponse(
        code: .decoding, content: content, detail: detail, codingPath: failure.codingPath, underlying: error)
    }
  }
}

extension ResponseMapping {
  /// Returns a function that reads the value of an accepted response.
  ///
  /// The function captures two properties, because one that captures the mapping looks up its metadata for every call.
  func reader(for call: Call) -> @Sendable (ResponseMessage) throws -> Value {
    { [read, accepted] in try call.value(of: $0, by: read, accepted) }
  }
}
