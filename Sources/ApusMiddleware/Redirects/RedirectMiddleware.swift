package import ApusCore
import HTTPTypes

/// A middleware that follows redirects (RFC 9110 §15.4), within the limits of a ``RedirectPolicy``.
///
/// It is inside retry and outside everything that belongs to one origin: each hop is an exchange of the same attempt,
/// with its own credentials, cookies and signature. The request's own credentials are removed when the origin (scheme,
/// host or port) changes, and are not restored when a later hop returns to the first origin.
///
/// - 301 and 302 turn a POST into a GET and leave other methods unchanged; 303 turns every method but HEAD into a GET;
///   307 and 308 change nothing. 300, 304, 305 and 306 are final responses, and so is a redirect without a `Location`.
/// - The content of a redirect is read if it has at most 4 KiB, so that the connection can be reused. Longer content is
///   discarded.
/// - Traces and errors contain the origin of a redirect's target, but not its path.
package struct RedirectMiddleware: Middleware {
  let defaultPolicy: RedirectPolicy

  /// Creates the middleware.
  ///
  /// - Parameter defaultPolicy: the policy of calls that set no policy (`.redirects(…)`). Default:
  ///   ``RedirectPolicy/follow``.
  package init(_ defaultPolicy: RedirectPolicy = .follow) {
    self.defaultPolicy = defaultPolicy
  }

  /// Passes the request on, and sends a further request for every redirect.
  ///
  /// - Throws: ``TransportError`` with a ``RedirectRefusal`` as its cause; its code is `malformedResponse`, or
  ///   `invalidRequest` if content must be resent that can be sent only once.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    let context = prepared(context)
    let response = try await next(request, context: context)
    guard context.follows(response.head) else { return response }
    return try await follow(response, to: request, context: context, next: next)
  }

  @inline(never)
  private func prepared(_ context: CallContext) -> CallContext {
    guard let limits = limits(for: context) else { return context }
    var context = context
    context.allowsLeavingHTTPS = limits.allowsInsecure
    context.followsRedirects = context.delivery != .described
    return context
  }

  private func limits(for context: CallContext) -> RedirectPolicy.Limits? {
    (context.values[RedirectPolicyKey.self] ?? defaultPolicy).limits
  }

  @inline(never)
  private func follow(
    _ redirect: ResponseMessage, to request: RequestMessage, context: CallContext, next: Next
  ) async throws -> ResponseMessage {
    guard let limits = limits(for: context) else { return redirect }
    var attempt = RedirectedAttempt(limits, from: request, context, next)
    return try await attempt.follow(redirect)
  }
}

/// An attempt that is redirected. A ``RedirectState`` makes the decisions.
private struct RedirectedAttempt {
  private var state: RedirectState
  private var request: RequestMessage
  private var context: CallContext
  private let next: Next
  /// The environment's authentications that the call replaces with its own credentials.
  private let overridden: [Authentication]

  /// The maximum number of bytes of a redirect's content that are read to reuse its connection.
  private static let drainedLength = 4 << 10

  init(_ limits: RedirectPolicy.Limits, from request: RequestMessage, _ context: CallContext, _ next: Next) {
    state = RedirectState(limits, from: request)
    self.request = request
    self.context = context
    self.next = next
    overridden = context.environment.authentications.filter { $0.isOverridden(by: request) }
  }

  mutating func follow(_ redirect: ResponseMessage) async throws -> ResponseMessage {
    var response = redirect
    while true {
      switch state.step(after: response.head, to: request, without: CredentialFields(of: context)) {
      case .finish: return response
      case .refuse(let refusal):
        response.discard()
        throw error(for: refusal)
      case .follow(let hop):
        try await drain(response)
        go(hop, status: response.statusCode)
        response = try await send()
      }
    }
  }

  /// Returns the error of a redirect that is not followed. Without a jar, redirects that wait for a cookie do not end.
  private func error(for refusal: RedirectRefusal) -> TransportError {
    var error = refusal.error
    if case .tooManyRedirects = refusal, state.setsCookies, context.environment.cookies == nil {
      error.detail = "\(refusal), and the cookies that the redirects set are not kept"
    }
    return error
  }

  private mutating func go(_ hop: RedirectState.Hop, status: Int) {
    context.record(.redirected(status: status, from: hop.from, to: hop.to))
    if hop.droppedFields > 0 { context.record(.note("fields not sent to the other origin", Int64(hop.droppedFields))) }
    request = hop.request
    if context.values[OwnConditionsKey.self] { request.head.headerFields.removeOwnConditions() }
    // A call whose own credentials were removed must not continue with the environment's credentials.
    let lost = overridden.filter { !$0.isOverridden(by: request) }
    context.values[SkippedAuthentications.self].formUnion(lost.map(\.id))
    guard context.values[CredentialsPolicyKey.self] != .none else { return }
    // A key that the server repeats in the target does not count as the call's own key, because authentication adds the
    // key if the hop needs it.
    let own = Set(overridden.flatMap(\.parameterNames))
    let names = Set(context.environment.authentications.flatMap(\.parameterNames)).subtracting(own)
    if !names.isEmpty { request.target = CredentialFields(parameters: names).removed(from: request.target) }
  }

  private func send() async throws -> ResponseMessage {
    do {
      return try await next(request, context: context)
    } catch let error as TransportError where error.requestState == .notSent {
      // An earlier hop was sent, and its server may have acted on that message.
      var error = error
      error.requestState = .maybeSent
      throw error
    }
  }

  /// Reads short content to its end, so that the connection can be reused, and discards longer content.
  private func drain(_ response: ResponseMessage) async throws {
    defer { response.discard() }
    guard let length = response.content.expectedLength, length <= Self.drainedLength else {
      return try Task.checkCancellation()
    }
    _ = try await IntermediateContent.collect(response.content, upTo: Self.drainedLength, context)
  }
}

extension RedirectMiddleware: SelfDescribing {
  /// The default policy for `describe()`.
  package var facts: [Fact] {
    guard let limits = defaultPolicy.limits else { return [.setting("none", "")] }
    let descent = limits.allowsInsecure ? "also" : "never"
    var facts: [Fact] = [.setting("up to", "\(limits.hops)"), .setting(descent, "from https to http")]
    if let hosts = limits.hosts {
      let names = hosts.sorted().joined(separator: " ")
      facts.append(names.isEmpty ? .setting("to no other host", "") : .setting("to other hosts only", names))
    }
    return facts
  }
}
