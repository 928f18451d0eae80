public import ApusCore
import HTTPTypes

/// Follows redirects (RFC 9110 §15.4), within the limits of a ``RedirectPolicy``.
///
/// It stands inside retry and outside of whatever belongs to one origin: each hop is an exchange of the same attempt,
/// with credentials, cookies and a signature of its own. What a request carries itself to prove who is calling stays
/// behind when the origin changes (scheme, host or port), and does not come back when a later hop returns.
///
/// - 301 and 302 turn a POST into a GET and leave other methods alone, 303 turns everything but HEAD into a GET; 307
///   and 308 change nothing. 300, 304, 305 and 306 are answers, and so is a redirect without a `Location`.
/// - Content of a redirect is not read, beyond a little that comes at once, to keep its connection.
/// - Nothing in the trace or an error tells where to but the origin.
public struct Redirects: Middleware {
  let standard: RedirectPolicy

  /// Makes the middleware.
  ///
  /// - Parameter standard: for calls that say nothing else (`.redirects(…)`). Default: ``RedirectPolicy/follow``.
  public init(_ standard: RedirectPolicy = .follow) {
    self.standard = standard
  }

  /// Passes the message on, and on again for every redirect.
  ///
  /// - Throws: ``TransportError`` with a ``RedirectRefusal`` as its cause, which becomes `malformedResponse`, or
  ///   `invalidRequest` where content would have to be sent again that can be sent once only.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    let context = prepared(context)
    let response = try await next(request, context: context)
    guard context.follows(response.head) else { return response }
    return try await follow(response, to: request, context: context, next: next)
  }

  @inline(never)  // What it needs for a moment would be kept for as long as the call waits.
  private func prepared(_ context: CallContext) -> CallContext {
    guard limits(for: context) != nil, context.delivery != .described else { return context }
    var context = context
    context.followsRedirects = true
    return context
  }

  private func limits(for context: CallContext) -> RedirectPolicy.Limits? {
    (context.values[RedirectPolicyKey.self] ?? standard).limits
  }

  @inline(never)  // A call that is not redirected makes no room for what this needs.
  private func follow(
    _ redirect: ResponseMessage, to request: RequestMessage, context: CallContext, next: Next
  ) async throws -> ResponseMessage {
    guard let limits = limits(for: context) else { return redirect }
    var journey = Journey(limits, from: request, context, next)
    return try await journey.follow(redirect)
  }
}

/// One attempt that is redirected: performs what a ``RedirectChain`` decides.
private struct Journey {
  private var chain: RedirectChain
  private var request: RequestMessage
  private var context: CallContext
  private let next: Next
  /// The client's authentications in whose places the call carries credentials of its own.
  private let anticipated: [Authentication]

  /// What is read of a redirect so that its connection can be used again.
  private static let drainedLength = 4 << 10

  init(_ limits: RedirectPolicy.Limits, from request: RequestMessage, _ context: CallContext, _ next: Next) {
    chain = RedirectChain(limits, from: request)
    self.request = request
    self.context = context
    self.next = next
    anticipated = context.environment.authentications.filter { $0.isAnticipated(by: request) }
  }

  mutating func follow(_ redirect: ResponseMessage) async throws -> ResponseMessage {
    var response = redirect
    while true {
      switch chain.step(after: response.head, to: request, without: CredentialFields(of: context)) {
      case .answer: return response
      case .refuse(let refusal):
        response.discard()
        throw refusal.error
      case .follow(let hop):
        try await drain(response)
        go(hop, status: response.head.status.code)
        response = try await send()
      }
    }
  }

  private mutating func go(_ hop: RedirectChain.Hop, status: Int) {
    context.record(.redirected(status: status, from: hop.from, to: hop.to))
    if hop.droppedFields > 0 { context.record(.note("fields kept from the other origin", Int64(hop.droppedFields))) }
    request = hop.request
    // What the call has lost of its own it must not go on with from somebody else.
    let lost = anticipated.filter { !$0.isAnticipated(by: request) }
    context.values[ForgoneAuthentications.self].formUnion(lost.map { ObjectIdentifier($0.parts) })
    guard context.values[CredentialUseKey.self] != .none else { return }
    // What the server repeated of the client's key is not the call's: the key is added afresh where it belongs.
    let own = Set(anticipated.flatMap(\.parameterNames))
    let names = Set(context.environment.authentications.flatMap(\.parameterNames)).subtracting(own)
    if !names.isEmpty { request.target = CredentialFields(parameters: names).removed(from: request.target) }
  }

  private func send() async throws -> ResponseMessage {
    do {
      return try await next(request, context: context)
    } catch let error as TransportError where error.requestState == .notSent {
      // What this hop did not send, the first one did: it may have been acted upon.
      var error = error
      error.requestState = .maybeSent
      throw error
    }
  }

  /// Reads a short content to its end and gives up any other.
  private func drain(_ response: ResponseMessage) async throws {
    defer { response.discard() }
    guard let length = response.content.expectedLength, length <= Self.drainedLength else {
      return try Task.checkCancellation()
    }
    _ = try await PassingContent.collect(response.content, upTo: Self.drainedLength, context)
  }
}
