public import ApusCore
public import HTTPTypes

/// What is answered to which request.
extension StubTransport {
  /// Makes the answer to a request.
  public typealias Answering = @Sendable (StubExchange) async throws -> StubAnswer

  /// Answers every request with this method and target.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - target: path and query as sent, the base URL's path included; without `?` it matches whatever query.
  ///   - answer: the answer, each time.
  public func on(_ method: HTTPRequest.Method, _ target: String, answer: StubAnswer) {
    on(method, target, answers: [answer])
  }

  /// Answers requests with this method and target, with one answer after the other.
  public func on(
    _ method: HTTPRequest.Method, _ target: String, answers: [StubAnswer], afterwards: Afterwards = .repeatLast
  ) {
    add("\(method.rawValue) \(Redaction().target(target))", .listed(answers, afterwards)) { request, _ in
      guard request.head.method == method else { return false }
      if target.contains("?") { return request.target == target }
      return request.target.prefix { $0 != "?" } == target
    }
  }

  /// Answers every call of an endpoint type.
  public func on<E: Endpoint>(_ endpoint: E.Type, answer: StubAnswer) {
    on(endpoint, answers: [answer])
  }

  /// Answers calls of an endpoint type, with one answer after the other.
  public func on<E: Endpoint>(
    _ endpoint: E.Type, answers: [StubAnswer], afterwards: Afterwards = .repeatLast
  ) {
    add("calls of \(endpoint)", .listed(answers, afterwards)) { _, context in
      context.call.endpoint.type.map { ObjectIdentifier($0) } == ObjectIdentifier(endpoint)
    }
  }

  /// Answers every call with this method and path template, for example `GET /users/{}`.
  ///
  /// - Parameters:
  ///   - template: the method, a space and the path as written, with `{}` or `{name}` for each value.
  ///   - answer: the answer, each time.
  public func on(template: String, answer: StubAnswer) {
    on(template: template, answers: [answer])
  }

  /// Answers calls with this method and path template, with one answer after the other.
  public func on(template: String, answers: [StubAnswer], afterwards: Afterwards = .repeatLast) {
    add("the template \(template)", .listed(answers, afterwards)) { _, context in
      "\(context.call.endpoint.method.rawValue) \(context.call.endpoint.template)" == template
    }
  }

  /// Answers the requests that a rule picks with what a function makes.
  ///
  /// - Parameters:
  ///   - matches: picks requests; their content is complete.
  ///   - answer: makes the answer; what it throws, the exchange throws.
  public func on(
    where matches: @escaping @Sendable (RequestMessage, ExchangeContext) -> Bool, answer: @escaping Answering
  ) {
    add("requests that a closure picks", .made(answer), matches)
  }

  /// Answers every request that no other rule has been added for since.
  public func onAny(answer: StubAnswer) {
    add("every request", .listed([answer], .repeatLast)) { _, _ in true }
  }

  private func add(
    _ name: String, _ script: StubRule.Script,
    _ matches: @escaping @Sendable (RequestMessage, ExchangeContext) -> Bool
  ) {
    watched.update { $0.add(name, script, matches) }
  }
}
