public import ApusCore
public import HTTPTypes

extension StubTransport {
  /// Returns the answer to a request.
  public typealias Answering = @Sendable (StubExchange) async throws -> StubAnswer

  /// Adds a rule for requests with a method and a target.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - target: path and query as sent, including the base URL's path. Without `?` it matches any query.
  ///   - answer: the answer to each request.
  public func on(_ method: HTTPRequest.Method, _ target: String, answer: StubAnswer) {
    on(method, target, answers: [answer])
  }

  /// Adds a rule for requests with a method and a target that gives one answer after the other.
  public func on(
    _ method: HTTPRequest.Method, _ target: String, answers: [StubAnswer], afterwards: Afterwards = .repeatLast
  ) {
    add("\(method.rawValue) \(Redaction().target(target))", .listed(answers, afterwards)) { request, _ in
      guard request.head.method == method else { return false }
      if target.contains("?") { return request.target == target }
      return request.target.prefix { $0 != "?" } == target
    }
  }

  /// Adds a rule for calls of an endpoint type.
  public func on<E: Endpoint>(_ endpoint: E.Type, answer: StubAnswer) {
    on(endpoint, answers: [answer])
  }

  /// Adds a rule for calls of an endpoint type that gives one answer after the other.
  public func on<E: Endpoint>(
    _ endpoint: E.Type, answers: [StubAnswer], afterwards: Afterwards = .repeatLast
  ) {
    add("calls of \(endpoint)", .listed(answers, afterwards)) { _, context in
      context.call.endpoint.type.map { ObjectIdentifier($0) } == ObjectIdentifier(endpoint)
    }
  }

  /// Adds a rule for calls with a method and a path template, such as `GET /users/{}`.
  ///
  /// - Parameters:
  ///   - template: the method, a space, and the path as the endpoint writes it, with `{}` or `{name}` for each value.
  ///   - answer: the answer to each call.
  public func on(template: String, answer: StubAnswer) {
    on(template: template, answers: [answer])
  }

  /// Adds a rule for calls with a method and a path template that gives one answer after the other.
  public func on(template: String, answers: [StubAnswer], afterwards: Afterwards = .repeatLast) {
    add("the template \(template)", .listed(answers, afterwards)) { _, context in
      "\(context.call.endpoint.method.rawValue) \(context.call.endpoint.template)" == template
    }
  }

  /// Adds a rule for requests that a closure selects.
  ///
  /// - Parameters:
  ///   - matches: returns whether the rule applies; the request's content is complete.
  ///   - answer: returns the answer; the exchange throws any error it throws.
  public func on(
    where matches: @escaping @Sendable (RequestMessage, ExchangeContext) -> Bool, answer: @escaping Answering
  ) {
    add("requests that a closure selects", .made(answer), matches)
  }

  /// Adds a rule for every request, which rules added later override.
  public func onAny(answer: StubAnswer) {
    add("every request", .listed([answer], .repeatLast)) { _, _ in true }
  }

  private func add(
    _ name: String, _ script: StubRule.Script,
    _ matches: @escaping @Sendable (RequestMessage, ExchangeContext) -> Bool
  ) {
    monitor.update { $0.add(name, script, matches) }
  }
}
