public import ApusCore
public import HTTPTypes

extension StubTransport {
  /// A closure that returns the reply to a request.
  package typealias Handler = @Sendable (StubExchange) async throws -> StubReply

  /// Adds a rule for requests with a method and a target.
  ///
  /// - Parameters:
  ///   - method: the method.
  ///   - target: path and query as sent, including the base URL's path. A target without `?` matches any query.
  ///   - reply: the reply to each request.
  public func on(_ method: HTTPRequest.Method, _ target: String, reply: StubReply) {
    on(method, target, replies: [reply])
  }

  /// Adds a rule for requests with a method and a target. The rule returns one reply after the other, and then repeats
  /// the last reply.
  public func on(_ method: HTTPRequest.Method, _ target: String, replies: [StubReply]) {
    add("\(method.rawValue) \(Redaction().target(target))", .listed(replies, .repeatLast)) { request, _ in
      guard request.head.method == method else { return false }
      if target.contains("?") { return request.target == target }
      return request.target.prefix { $0 != "?" } == target
    }
  }

  /// Adds a rule for calls of an endpoint type.
  public func on<E: Endpoint>(_ endpoint: E.Type, reply: StubReply) {
    on(endpoint, replies: [reply])
  }

  /// Adds a rule for calls of an endpoint type. The rule returns one reply after the other, and then repeats the last
  /// reply.
  public func on<E: Endpoint>(_ endpoint: E.Type, replies: [StubReply]) {
    on(endpoint, replies: replies, whenExhausted: .repeatLast)
  }

  package func on<E: Endpoint>(_ endpoint: E.Type, replies: [StubReply], whenExhausted: Exhaustion) {
    add("calls of \(endpoint)", .listed(replies, whenExhausted)) { _, context in
      context.call.endpoint.type.map { ObjectIdentifier($0) } == ObjectIdentifier(endpoint)
    }
  }

  /// Adds a rule for calls with a method and a path template, such as `GET /users/{}`.
  ///
  /// - Parameters:
  ///   - template: the method, a space, and the path as the endpoint writes it, with `{}` or `{name}` for each value.
  ///   - reply: the reply to each call.
  public func on(template: String, reply: StubReply) {
    on(template: template, replies: [reply])
  }

  /// Adds a rule for calls with a method and a path template. The rule returns one reply after the other, and then
  /// repeats the last reply.
  public func on(template: String, replies: [StubReply]) {
    add("the template \(template)", .listed(replies, .repeatLast)) { _, context in
      "\(context.call.endpoint.method.rawValue) \(context.call.endpoint.template)" == template
    }
  }

  /// Adds a rule for requests that a closure selects.
  ///
  /// - Parameters:
  ///   - matches: returns whether the rule applies; the request's content is complete.
  ///   - reply: returns the reply; if the closure throws, the exchange throws the same error.
  public func on(
    where matches: @escaping @Sendable (RequestMessage, ExchangeContext) -> Bool,
    reply: @escaping @Sendable (StubExchange) async throws -> StubReply
  ) {
    add("requests that a closure selects", .made(reply), matches)
  }

  /// Adds a rule for every request. Rules that are added later override this rule.
  public func onAny(reply: StubReply) {
    add("every request", .listed([reply], .repeatLast)) { _, _ in true }
  }

  private func add(
    _ name: String, _ script: StubRule.Script,
    _ matches: @escaping @Sendable (RequestMessage, ExchangeContext) -> Bool
  ) {
    monitor.update { $0.add(name, script, matches) }
  }
}
