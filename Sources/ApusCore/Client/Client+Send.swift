extension Client {
  /// Sends an endpoint and returns its value.
  ///
  /// - Parameter endpoint: an endpoint of any style.
  /// - Throws: ``CallError``.
  /// - Cancellation: cancelling the task cancels the call, which then throws with the code `cancelled`.
  ///   Cancelling the call through ``calls`` does not cancel the task.
  public func send<E: Endpoint>(_ endpoint: E) async throws(CallError) -> E.Value {
    let request = endpoint.described
    return try await value(of: request, by: Call(request.box, delivery: .buffered, from: origin))
  }

  // Code completion after `send(.` offers functions of endpoints only for this overload, if the type of the value is
  // known, and for the next one, if it is not. For a generic parameter it offers properties.

  /// Sends a request and returns its value.
  ///
  /// - Throws: ``CallError``.
  /// - Cancellation: as for an endpoint.
  public func send<Value>(_ request: Request<Value>) async throws(CallError) -> Value {
    try await value(of: request, by: Call(request.box, delivery: .buffered, from: origin))
  }

  /// Sends an endpoint that is an object whose type is known only at run time, and ignores its value.
  ///
  /// - Throws: ``CallError``.
  @_disfavoredOverload
  public func send(_ endpoint: any Endpoint & AnyObject) async throws(CallError) {
    try await sendIgnoringValue(endpoint)
  }

  private func sendIgnoringValue<E: Endpoint>(_ endpoint: E) async throws(CallError) {
    _ = try await send(endpoint)
  }

  /// Sends an endpoint whose value is ``Content``, and decodes the response as `type`.
  ///
  /// - Throws: ``CallError``.
  public func send<E: Endpoint, Value: Decodable & Sendable>(
    _ endpoint: E, as type: Value.Type = Value.self
  ) async throws(CallError) -> Value where E.Value == Content {
    try await send(endpoint.described.mapped(by: ResponseMapping<Value>.decoded))
  }

  /// Sends an endpoint and returns its value with the response head and the trace.
  ///
  /// - Throws: ``CallError``.
  public func response<E: Endpoint>(to endpoint: E) async throws(CallError) -> Response<E.Value> {
    try await response(to: endpoint.described)
  }

  /// Sends a request and returns its value with the response head and the trace.
  ///
  /// - Throws: ``CallError``.
  public func response<Value>(to request: Request<Value>) async throws(CallError) -> Response<Value> {
    let call = Call(request.box, delivery: .buffered, from: origin)
    let value = try await value(of: request, by: call)
    return Response(value: value, of: call)
  }

  /// Sends an endpoint and returns its value, or its rejection as a value.
  ///
  /// For rejections that the app expects, for example a form with errors or a name that is taken. An endpoint can
  /// declare the type once, see ``Endpoint/outcome(rejectedAs:)``.
  ///
  /// - Parameters:
  ///   - endpoint: any endpoint.
  ///   - type: the type of the content (body) of a rejection.
  /// - Throws: ``CallError`` for all other failures, including rejections that cannot be decoded as `Rejected`.
  public func outcome<E: Endpoint, Rejected: Decodable & Sendable>(
    of endpoint: E, rejectedAs type: Rejected.Type
  ) async throws(CallError) -> Outcome<E.Value, Rejected> {
    try await send(endpoint.outcome(rejectedAs: type))
  }

  /// Returns the message of an endpoint, with everything that the pipeline adds, without sending it.
  ///
  /// - Throws: ``CallError`` if the message cannot be created.
  public func message<E: Endpoint>(for endpoint: E) async throws(CallError) -> RequestMessage {
    let call = Call(endpoint.described.box, delivery: .described, from: origin)
    let message = try await perform(call) { _ in call.snapshot(\.message) }
    guard let message else {
      throw CallError(CallFault(.invalidRequest, "a middleware responded in place of the transport"), of: call)
    }
    return message
  }

  private func value<Value>(of request: Request<Value>, by call: Call) async throws(CallError) -> Value {
    guard request.mapping.rejected == nil else { return try await value(orRejected: request.mapping, of: call) }
    return try await perform(call, deliver: request.mapping.reader(for: call))
  }

  /// Performs a call that has an expected rejection as its value.
  @inline(never)  // Few calls expect one: the others keep nothing for it.
  private func value<Value>(
    orRejected mapping: ResponseMapping<Value>, of call: Call
  ) async throws(CallError) -> Value {
    do {
      return try await perform(call, deliver: mapping.reader(for: call))
    } catch {
      guard let value = error.rejection?.value.flatMap({ mapping.rejected?($0) }) else { throw error }
      return value
    }
  }

  /// Runs a call and ends it as the last step, so that a call that was superseded in the meantime never returns its
  /// value.
  private func perform<Output: Sendable>(
    _ call: Call, deliver: @escaping @Sendable (ResponseMessage) throws -> Output
  ) async throws(CallError) -> Output {
    let output: Output
    do {
      output = try await start(call, deliver: deliver)
    } catch {
      throw call.fail(error)
    }
    try call.succeed()
    return output
  }

  /// Registers the call, starts its task and waits for the result. The function that calls `start` must also end the
  /// call, with ``Call/succeed()`` or ``Call/fail(_:)``.
  ///
  /// All functions on the path of a call throw instead of returning a `Result`, because a generic function that uses
  /// a `Result` looks up its metadata for every call.
  func start<Output: Sendable>(
    _ call: Call, isolation: isolated (any Actor)? = #isolation,
    deliver: @escaping @Sendable (ResponseMessage) throws -> Output
  ) async throws -> Output {
    try admit(call)
    return try await withTaskCancellationHandler {
      // Using `isolation` keeps this closure on the caller's actor.
      try await work(of: call, for: isolation, deliver: deliver).value
    } onCancel: {
      call.cancel(.caller)
    }
  }

  // MARK: Steps, not inlined because their temporaries would live as long as the call

  @inline(never)
  private func admit(_ call: Call) throws {
    call.recordStart()
    // A call that is over already supersedes none.
    guard !Task.isCancelled else {
      call.announce()
      throw CancellationError()
    }
    guard call.delivery == .described || host.registry.admit(call) else {
      throw CallFault(.refused, "a call with this id is running")
    }
    call.announce()
  }

  @inline(never)
  private func work<Output: Sendable>(
    of call: Call, for caller: (any Actor)?, deliver: @escaping @Sendable (ResponseMessage) throws -> Output
  ) -> Task<Output, any Error> {
    let task = host.spawner.spawn(for: caller) { [pipeline] in
      defer { call.presence?.begin() }
      return try await call.run(through: pipeline, deliver: deliver)
    }
    call.attach(task)
    call.presence?.end()
    return task
  }
}
