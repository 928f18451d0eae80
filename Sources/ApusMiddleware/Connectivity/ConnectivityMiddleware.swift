public import ApusCore
import HTTPTypes

/// A middleware that delays or refuses calls while the device is offline, see ``ConnectivityPolicy``.
///
/// It is inside retry, so that attempts can wait, and outside scheduling, so that a waiting attempt holds no permit. It
/// reports the outcome of each attempt to its ``Connectivity``; an unreachable IPv6 address in a URL is no evidence
/// that the device is offline. Work on which other calls depend, such as fetching a token (``SharedWorkKey``), never
/// waits. ``RetryMiddleware``, further out, removes an internal mark from the errors of calls that fail fast.
package struct ConnectivityMiddleware: Middleware {
  private let connectivity: Connectivity
  let defaultPolicy: ConnectivityPolicy

  /// Creates the middleware.
  ///
  /// - Parameters:
  ///   - connectivity: the connectivity; share one instance among all clients of an app.
  ///   - defaultPolicy: the policy of calls that set no policy (`.connectivity(…)`). Default:
  ///     ``ConnectivityPolicy/pauseRetries``, which never refuses a call on outdated evidence.
  package init(_ connectivity: Connectivity, _ defaultPolicy: ConnectivityPolicy = .pauseRetries) {
    self.connectivity = connectivity
    self.defaultPolicy = defaultPolicy
  }

  /// Passes the request on, immediately or when a network is available.
  ///
  /// - Throws: ``TransportError`` with the code `offline` if the call does not wait; nothing is sent in that case.
  ///   `CancellationError` when the task is cancelled while it waits, for example at the call's deadline.
  package func intercept(_ request: RequestMessage, context: CallContext, next: Next) async throws -> ResponseMessage {
    guard context.delivery != .described else { return try await next(request, context: context) }
    let isShared = context.values[SharedWorkKey.self]
    let policy = isShared ? .pauseRetries : context.values[ConnectivityPolicyKey.self] ?? defaultPolicy
    var hasWaited = false
    // The number of times that this call found no network although other calls did. A delay prevents the loop from
    // spinning.
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
      if permit.isProbe { context.record(.note("probes the network, attempt", Int64(context.attempt))) }
      return permit
    }
    context.record(.note("not sent, the device is offline, attempt", Int64(context.attempt)))
    let error = TransportError(.offline, requestState: .notSent, detail: "there was no network when last heard of")
    throw OfflineRefusal.lasting(error)
  }

  private func rest(after failures: Int, _ context: CallContext) async throws {
    context.record(.queued(.network))
    try await context.clock.sleep(until: context.now.advanced(by: ConnectivityState.pause(after: failures)))
    try Task.checkCancellation()
  }

  /// Returns the evidence of a failed attempt. Many networks have no IPv6, so an unreachable IPv6 address is no
  /// evidence.
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
  /// Creates the evidence that an error gives about the network, regardless of the server.
  init(_ error: any Error) {
    guard let error = error as? TransportError else {
      self = error is CancellationError ? .untried : .nothing
      return
    }
    let isRefused = error.source == .trafficControl || error.source == .content || error.code == .invalidRequest
    switch error.code {
    case .offline: self = .unreachable
    case _ where isRefused && error.requestState == .notSent: self = .untried
    // The network may have been lost after the head, too.
    case .connectionLost, .timeout: self = .nothing
    default: self = error.requestState == .responded ? .reached : .nothing
    }
  }
}

extension ConnectivityMiddleware: SelfDescribing {
  /// The default policy for `describe()`.
  package var facts: [Fact] { [.setting("offline", "\(defaultPolicy)")] }
}

/// A policy for calls that are made while the device is offline.
public enum ConnectivityPolicy: Sendable, Hashable, CaseIterable {
  /// The call fails immediately with the code `offline`.
  ///
  /// Occasionally a call is sent as a probe, so that outdated evidence is corrected.
  case failFast
  /// The call waits for a network, within its deadline, even if the attempt itself found the device offline.
  ///
  /// A request that was not sent is then sent as part of the same attempt, unless its content can be read only once.
  case wait
  /// The first attempt is sent; retries wait for a network, so that no retry is wasted.
  case pauseRetries
}

enum ConnectivityPolicyKey: ContextKey {
  /// `nil`: the client's policy.
  static let defaultValue: ConnectivityPolicy? = nil
}

extension Endpoint {
  /// Sets the policy of calls of this endpoint while the device is offline. Default: the client's policy.
  public func connectivity(_ policy: ConnectivityPolicy) -> Request<Value> {
    setting(ConnectivityPolicyKey.self, policy)
  }
}

/// A mark on an `offline` error that must not be retried, because its call does not wait for a network.
struct OfflineRefusal: Error, CustomStringConvertible {
  /// The error's own cause, such as an error of the platform.
  private let underlying: (any Error)?

  var description: String { "there is no network" }

  /// Returns the error, marked if its code is `offline`.
  static func lasting(_ error: any Error) -> any Error {
    guard var error = error as? TransportError, error.code == .offline else { return error }
    error.underlying = OfflineRefusal(underlying: error.underlying)
    return error
  }

  /// Returns the error without the mark, for the app.
  static func unmarked(_ error: TransportError) -> TransportError {
    guard let mark = error.underlying as? OfflineRefusal else { return error }
    var error = error
    error.underlying = mark.underlying
    return error
  }
}
