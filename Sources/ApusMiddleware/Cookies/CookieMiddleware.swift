package import ApusCore
import HTTPTypes

/// A middleware that binds each call to the present session of the environment's ``CookieJar``.
///
/// Insert it in the slot ``Slot/principal``: a call that waits while the user signs out must not be sent with the cookies
/// of the next user.
package struct CookieBinding: Middleware {
  /// Creates the middleware.
  package init() {}

  /// Stores the jar's number in the context.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    var context = context
    if let jar = context.environment.cookies { context.values[CookieJarNumberKey.self] = jar.number }
    return try await next(request, context: context)
  }
}

/// A middleware that sends the cookies of the environment's ``CookieJar``, and stores the cookies of responses.
///
/// It is inside redirects: each hop has its own cookies.
package struct CookieMiddleware: Middleware {
  /// Creates the middleware.
  package init() {}

  /// Adds the cookies of the message's host and path, and stores the cookies that the response sets.
  ///
  /// - Throws: ``TransportError`` with ``PrincipalChangedError`` as its cause if the jar was cleared since the call
  ///   began; nothing is sent.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let jar = context.environment.cookies, let target = CookieTarget(of: request, context) else {
      return try await next(request, context: context)
    }
    let (cookies, number) = jar.cookies(for: target)
    let bound = context.values[CookieJarNumberKey.self]
    guard bound == 0 || bound == number else { throw PrincipalChangedError.error }
    var message = request
    if message.addCookies(cookies) { context.record(.note("cookies sent", Int64(cookies.count))) }
    let response = try await next(message, context: context)
    if response.head.headerFields.contains(.setCookie) {
      let lines = response.head.headerFields[fields: .setCookie].map { $0.withUnsafeBytesOfValue { Array($0) } }
      Self.record(jar.store(lines, from: target, sentWith: number), context)
    }
    return response
  }

  private static func record(_ outcomes: [CookieState.Outcome], _ context: CallContext) {
    func count(_ note: TraceNote, where isIncluded: (CookieState.Outcome) -> Bool) {
      let count = outcomes.count(where: isIncluded)
      if count > 0 { context.record(.note(note, Int64(count))) }
    }
    count("cookies stored") { $0 == .stored }
    count("cookies removed") { $0 == .removed }
    count("cookies ignored: malformed") { $0 == .ignored(.malformed) }
    count("cookies ignored: for another domain") { $0 == .ignored(.foreignDomain) }
    count("cookies ignored: not secure") { $0 == .ignored(.insecure) }
    count("cookies ignored: prefix without its attributes") { $0 == .ignored(.prefix) }
    count("cookies ignored: the jar was cleared") { $0 == .ignored(.outdated) }
  }
}

extension CookieTarget {
  /// - Returns: `nil` for a host that the environment's jar does not serve.
  init?(of request: RequestMessage, _ context: CallContext) {
    let hosts = CookieHosts(
      own: context.environment.baseURL.origin, trusted: context.values[TrustedOriginsKey.self])
    guard let origin = request.origin else { return nil }
    self.init(origin, target: request.target, among: hosts)
  }
}

extension RequestMessage {
  /// Adds cookies as a sensitive field, unless there are none or the message has a `Cookie` field of its own.
  ///
  /// - Returns: whether the field was added.
  mutating func addCookies(_ cookies: [Cookie]) -> Bool {
    guard let value = cookies.fieldValue, !head.headerFields.contains(.cookie) else { return false }
    var field = HTTPField(name: .cookie, value: value)
    field.indexingStrategy = .disallow
    head.headerFields.append(field)
    return true
  }
}

extension CookieMiddleware: SessionKeeping {
  /// Clears the environment's jar.
  package func signedOut(of environment: Environment) {
    environment.cookies?.removeAll()
  }
}

extension CookieMiddleware: SelfDescribing {
  /// The limits for `describe()`.
  package var facts: [Fact] {
    let limits = CookieState.Limits()
    return [.setting("cookies per domain", "\(limits.perDomain)"), .setting("in total", "\(limits.total)")]
  }
}
