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

  /// Sends a request and returns its value.
  ///
  /// This overload finds static members of `Request`, as in `api.send(.user(1))` with `extension Request where Value == User`.
  ///
  /// - Throws: ``CallError``.
  /// - Cancellation: as for every endpoint.
  public func send<Value>(_ request: Request<Value>) async throws(CallError) -> Value {
    try await value(of: request, by: Call(request.box, delivery: .buffered, from: origin))
  }

  /// Sends an endpoint that leaves its type to the call, and decodes the response as that type.
  ///
  /// - Throws: ``CallError``.
  public func send<E: Endpoint, Value: Decodable & Sendable>(
    _ endpoint: E, as type: Value.Type = Value.self
  ) async throws(CallError) -> Value where E.Value == Content {
    try await send(endpoint.described.mapped(by: ResponseMapping<Value>.decoded))
  }

  /// Sends a request that leaves its type to the call, and decodes the response as that type.
  ///
  /// - Throws: ``CallError``.
  public func send<Value: Decodable & Sendable>(
    _ request: Request<Content>, as type: Value.Type = Value.self
  ) async throws(CallError) -> Value {
    try await send(request.mapped(by: ResponseMapping<Value>.decoded))
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
  /// For rejections that the app expects: a form with errors, a name that is taken. An endpoint can declare them once, see
  /// ``Endpoint/outcome(rejectedAs:)``.
  ///
  /// - Parameters:
  ///   - endpoint: any endpoint.
  ///   - type: the type of the content (body) of a rejection.
  /// - Throws: ``CallError`` for everything else, also for rejections of another shape.
  public func outcome<E: Endpoint, Rejected: Decodable & Sendable>(
    of endpoint: E, rejectedAs type: Rejected.Type
  ) async throws(CallError) -> Outcome<E.Value, Rejected> {
    try await outcome(of: endpoint.described, rejectedAs: type)
  }

  /// Sends a request and returns its value, or its rejection as a value.
  ///
  /// - Throws: ``CallError`` for everything else, also for rejections of another shape.
  public func outcome<Value, Rejected: Decodable & Sendable>(
    of request: Request<Value>, rejectedAs type: Rejected.Type
  ) async throws(CallError) -> Outcome<Value, Rejected> {
    try await send(request.outcome(rejectedAs: type))
  }

  /// Returns the message of an endpoint, with everything that the pipeline adds, without sending it.
  ///
  /// - Throws: ``CallError`` for a request that cannot be made.
  public func message<E: Endpoint>(for endpoint: E) async throws(CallError) -> RequestMessage {
    try await message(for: endpoint.described)
  }

  /// Returns the message of a request without sending it.
  ///
  /// - Throws: ``CallError`` for a request that cannot be made.
  public func message<Value>(for request: Request<Value>) async throws(CallError) -> RequestMessage {
    let call = Call(request.box, delivery: .described, from: origin)
    let message = try await settled(call) { _ in call.snapshot(\.message) }
    guard let message else {
      throw CallError(CallFault(.invalidRequest, "a middleware answered in place of it"), of: call)
    }
    return message
  }

  private func value<Value>(of request: Request<Value>, by call: Call) async throws(CallError) -> Value {
    let mapping = request.mapping
    do {
      return try await settled(call) { try mapping.value(of: $0, for: call) }
    } catch {
      // A rejection that the endpoint expects is its value.
      guard let rejected = mapping.rejected, let value = error.rejection?.value.flatMap(rejected) else { throw error }
      return value
    }
  }

  /// Runs a call and settles its outcome as the last act, so that a call superseded meanwhile never returns its value.
  private func settled<Output: Sendable>(
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

  /// The shell on the caller's side: registers the call, starts its one unit of work and awaits it. The function that
  /// starts a call also ends it, with ``Call/succeed()`` or ``Call/fail(_:)``.
  ///
  /// It throws instead of returning a `Result`, as everything on the path does: each generic function that touches a
  /// `Result` would look up its metadata for every call.
  func start<Output: Sendable>(
    _ call: Call, isolation: isolated (any Actor)? = #isolation,
    deliver: @escaping @Sendable (ResponseMessage) throws -> Output
  ) async throws -> Output {
    call.recordStart()
    guard call.delivery == .described || host.registry.admit(call) else {
      throw CallFault(.declined, "a call with this id is running")
    }
    call.announce()
    return try await withTaskCancellationHandler {
      // Naming the caller's isolation keeps this on its actor, too.
      let unit = host.spawner.spawn(for: isolation) { [path] in try await call.take(path, deliver: deliver) }
      call.attach(unit)
      return try await unit.value
    } onCancel: {
      call.cancel(.caller)
    }
  }
}
