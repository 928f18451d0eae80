public import ApusCore
import HTTPTypes

/// Has calls take notice of whether the device has a network, see ``ConnectivityPolicy``.
///
/// It stands inside retry, so that attempts can wait, and outside of scheduling, so that none holds a permit meanwhile.
/// What each call finds out it tells the ``Connectivity`` it was given; that an IPv6 address in a URL has no way to it is
/// no evidence that there is no network. Calls that do work for many others, such as
/// fetching a token (``SharedWorkKey``), are never held up. In a pipeline of one's own it needs ``Retry`` further out,
/// which takes an internal mark off the errors of calls that fail fast.
public struct ConnectivityGate: Middleware {
  private let connectivity: Connectivity
  let standard: ConnectivityPolicy

  /// Makes the middleware.
  ///
  /// - Parameters:
  ///   - connectivity: what is known; one for all clients of an app.
  ///   - standard: for calls that say nothing else (`.connectivity(…)`). Default:
  ///     ``ConnectivityPolicy/pauseRetries``, with which nothing is ever refused wrongly.
  public init(_ connectivity: Connectivity, _ standard: ConnectivityPolicy = .pauseRetries) {
    self.connectivity = connectivity
    self.standard = standard
  }

  /// Passes the message on, at once or when there is a network.
  ///
  /// - Throws: ``TransportError`` of kind `offline` where the call does not wait; nothing is sent then.
  ///   `CancellationError` when the task is cancelled while it waits, as by the call's deadline.
  public func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard context.delivery != .described else { return try await next(request, context: context) }
    let isShared = context.values[SharedWorkKey.self]
    let policy = isShared ? .pauseRetries : context.values[ConnectivityPolicyKey.self] ?? standard
    var hasWaited = false
    // How often others reached what they called, and this one still did not: by such news alone it would try and try.
    var misled = 0
    while true {
      let permit = try await admit(policy, isFirst: isShared || context.attempt == 1, context)
      if misled > 0, !permit.isProbe { try await rest(after: misled, context) }
      do {
        let response = try await next(request, context: context)
        connectivity.found(.reached, permit, context)
        return response
      } catch {
        let finding = Self.finding(of: error, from: request)
        connectivity.found(finding, permit, context)
        guard policy == .wait, finding == .unreachable, Self.canRepeat(request, after: error) else {
          throw policy == .failFast ? OfflineRefusal.lasting(error) : error
        }
        if hasWaited, !permit.isProbe { misled += 1 }
        hasWaited = true
      }
    }
  }

  private func admit(
    _ policy: ConnectivityPolicy, isFirst: Bool, _ context: CallContext
  ) async throws -> Connectivity.Permit {
    if let permit = try await connectivity.admit(policy, isFirst: isFirst, context) {
      if permit.isProbe { context.record(.note("tries whether there is a network, attempt", Int64(context.attempt))) }
      return permit
    }
    context.record(.note("not tried, there is no network, attempt", Int64(context.attempt)))
    let error = TransportError(.offline, requestState: .notSent, detail: "there was no network when last heard of")
    throw OfflineRefusal.lasting(error)
  }

  private func rest(after failures: Int, _ context: CallContext) async throws {
    context.record(.queued(.network))
    try await context.clock.sleep(until: context.now.advanced(by: ConnectivityState.pause(after: failures)))
    try Task.checkCancellation()
  }

  /// What a call found out. That one IPv6 address has no way to it says nothing of the network: most have no IPv6.
  private static func finding(of error: any Error, from request: RequestMessage) -> ConnectivityState.Finding {
    let finding = ConnectivityState.Finding(error)
    let isIPv6 = request.head.authority?.utf8.first == UInt8(ascii: "[")
    return finding == .unreachable && isIPv6 ? .nothing : finding
  }

  private static func canRepeat(_ request: RequestMessage, after error: any Error) -> Bool {
    (error as? TransportError)?.requestState == .notSent && request.content.isReplayable
  }
}

extension ConnectivityState.Finding {
  /// What an error says of the network, whatever it says of the server.
  init(_ error: any Error) {
    guard let error = error as? TransportError else {
      self = error is CancellationError ? .untried : .nothing
      return
    }
    let isRefused = error.subject == .control || error.subject == .content || error.kind == .unsupported
    switch error.kind {
    case .offline: self = .unreachable
    case _ where isRefused && error.requestState == .notSent: self = .untried
    // Also after the head: the network may have gone since.
    case .broken, .timedOut: self = .nothing
    default: self = error.requestState == .answered ? .reached : .nothing
    }
  }
}
