extension Client {
  /// Sends an endpoint and passes its response to a closure, which reads the content (body) while it arrives.
  ///
  /// The closure runs on the caller's actor. When it returns, unread content is discarded. Until then the call stays
  /// registered and cancellable, and its deadline applies. Calls made in the closure end no later than that deadline.
  ///
  /// - Throws: ``CallError``. An error of the closure becomes its `underlying` error, with the code `handler`.
  public func withResponse<E: Endpoint, Output>(
    to endpoint: E, _ body: (inout StreamedResponse) async throws -> Output
  ) async throws(CallError) -> Output {
    let call = Call(endpoint.resolvedRequest.box, delivery: .streamed, from: callSource)
    let message = try await call.open()
    defer { message.discard() }
    call.enterHandler()
    let output: Output
    do {
      output = try await read(message, of: call, by: body)
    } catch {
      throw call.fail(call.handlerError(error))
    }
    try call.succeed()
    return output
  }

  private func read<Output>(
    _ message: ResponseMessage, of call: Call, isolation: isolated (any Actor)? = #isolation,
    by body: (inout StreamedResponse) async throws -> Output
  ) async throws -> Output {
    try await withTaskCancellationHandler {
      // Captured, so that this closure and `body` run on the caller's actor rather than on the global pool.
      _ = isolation
      guard let hold = call.callerClockHold else { return try await hand(message, of: call, to: body) }
      return try await hold.standStill {
        _ = isolation
        // From here on the work of `standStill` holds the clock, unless the app waits for content that has not arrived
        // yet.
        hold.end()
        defer { hold.begin() }
        return try await hand(message, of: call, to: body)
      }
    } onCancel: {
      call.cancel(.caller)
    }
  }

  /// Runs the closure. Calls made in it inherit the deadline of this call.
  private func hand<Output>(
    _ message: ResponseMessage, of call: Call, isolation: isolated (any Actor)? = #isolation,
    to body: (inout StreamedResponse) async throws -> Output
  ) async throws -> Output {
    guard let deadline = call.deadline else {
      var response = StreamedResponse(message, of: call)
      return try await body(&response)
    }
    return try await DeadlineScope.perform(until: deadline) { () async throws -> Output in
      // Captured for the same reason as in `withResponse`.
      _ = isolation
      var response = StreamedResponse(message, of: call)
      return try await body(&response)
    }.get()
  }
}

extension Call {
  /// Performs a call with streamed delivery and returns its accepted response when the head has arrived. The function
  /// that calls `open` must end the call and discard the response.
  func open() async throws(CallError) -> ResponseMessage {
    let message = try await perform { $0 }
    attach(message.content)
    return message
  }
}
