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
  /// The jar whose storage `describe()` shows. Calls use the jar of their environment.
  private let shown: CookieJar?

  /// Creates the middleware.
  ///
  /// - Parameter jar: the jar whose storage `describe()` shows. Default: `nil`, none.
  package init(_ jar: CookieJar? = nil) {
    shown = jar
  }

  /// Adds the cookies of the message's host and path, and stores the cookies that the response sets.
  ///
  /// If the jar has a file, the response is returned when its cookies are in the file: a process that ends after a call
  /// has the call's cookies when it starts again.
  ///
  /// - Throws: ``TransportError`` with ``PrincipalChangedError`` as its cause if the jar was cleared since the call
  ///   began; nothing is sent.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard let jar = context.environment.cookies, let target = CookieTarget(of: request, context, in: jar) else {
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
      await Self.waitUntilSaved(jar, context)
    }
    return response
  }

  private static func waitUntilSaved(_ jar: CookieJar, _ context: CallContext) async {
    guard let storage = jar.storage else { return }
    await storage.waitUntilSaved()
    if let failure = storage.failure { context.record(.note(failure.note, failure.number)) }
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
  /// - Returns: `nil` for a host that the jar does not serve.
  init?(of request: RequestMessage, _ context: CallContext, in jar: CookieJar) {
    let hosts =
      jar.servesAllHosts
      ? nil
      : CookieHosts(own: context.environment.baseURL.origin, trusted: context.values[TrustedOriginsKey.self])
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
  /// Clears the environment's jar, also in its file.
  ///
  /// - Throws: the error of the file.
  package func signedOut(of environment: Environment) async throws {
    guard let jar = environment.cookies else { return }
    jar.removeAll()
    await jar.storage?.waitUntilSaved()
    if let failure = jar.storage?.failure { throw failure.error }
  }
}

extension CookieMiddleware: SelfDescribing {
  /// The limits and the storage for `describe()`.
  package var facts: [Fact] {
    let limits = CookieState.Limits()
    var facts: [Fact] = [
      .setting("cookies per domain", "\(limits.perDomain)"), .setting("in total", "\(limits.total)"),
    ]
    guard let storage = shown?.storage else { return facts }
    facts.append(.setting("in", storage.name))
    if let failure = storage.failure { facts.append(.setting("not saved:", "\(failure.error)")) }
    return facts
  }
}
