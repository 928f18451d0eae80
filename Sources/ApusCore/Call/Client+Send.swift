extension Client {
  /// Sends an endpoint and returns its value.
  ///
  /// - Parameter endpoint: an endpoint of any style.
  /// - Throws: ``CallError``.
  /// - Cancellation: cancelling the task cancels the call, which then throws with the code `cancelled`.
  ///   Cancelling the call through ``calls`` does not cancel the task.
  public func send<E: Endpoint>(_ endpoint: E) async throws(CallError) -> E.Value {
    let request = endpoint.resolvedRequest
    let call = Call(request.box, delivery: .buffered, from: callSource)
    return try await call.perform(request.mapping.reader(for: call), expecting: request.mapping.rejected)
  }

  // For a generic parameter, code completion after `send(.` offers only properties. With this overload it also offers
  // the factory methods of endpoints if the type of the value is known, and with the next overload if that type is
  // unknown.

  /// Sends a request and returns its value.
  ///
  /// - Throws: ``CallError``.
  /// - Cancellation: as for an endpoint.
  public func send<Value>(_ request: Request<Value>) async throws(CallError) -> Value {
    let call = Call(request.box, delivery: .buffered, from: callSource)
    return try await call.perform(request.mapping.reader(for: call), expecting: request.mapping.rejected)
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
    try await send(endpoint.resolvedRequest.mapped(by: ResponseMapping<Value>.decoded))
  }

  /// Sends an endpoint and returns its value with the response head and the trace.
  ///
  /// - Throws: ``CallError``.
  public func response<E: Endpoint>(to endpoint: E) async throws(CallError) -> Response<E.Value> {
    try await response(to: endpoint.resolvedRequest)
  }

  /// Sends a request and returns its value with the response head and the trace.
  ///
  /// - Throws: ``CallError``.
  public func response<Value>(to request: Request<Value>) async throws(CallError) -> Response<Value> {
    let call = Call(request.box, delivery: .buffered, from: callSource)
    let value = try await call.perform(request.mapping.reader(for: call), expecting: request.mapping.rejected)
    return Response(value: value, of: call)
  }

  /// Sends an endpoint and returns its value, or its rejection as a value.
  ///
  /// Use this method for rejections that the app expects, for example a form with errors or a name that is taken. An
  /// endpoint can declare the type once, see ``Endpoint/outcome(rejectedAs:)``.
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
    let call = Call(endpoint.resolvedRequest.box, delivery: .described, from: callSource)
    let message = try await call.perform { _ in call.snapshot(\.message) }
    guard let message else {
      throw CallError(CallFault(.invalidRequest, "a middleware responded in place of the transport"), of: call)
    }
    return message
  }
}
