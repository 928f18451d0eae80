public import ApusCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The input of a refresh: the credentials to replace, and access to the server.
public struct RefreshContext: Sendable {
  /// The credentials to replace.
  public let credential: Credential
  private let client: Client
  private let serverClock: ServerClock

  init(_ credential: Credential, _ client: Client, _ serverClock: ServerClock) {
    self.credential = credential
    self.client = client
    self.serverClock = serverClock
  }

  /// The refresh token, or the token itself if there is none.
  public var token: Secret {
    switch credential {
    case .tokens(let tokens): tokens.refresh ?? tokens.access
    case .token(let token), .password(_, let token): token
    }
  }

  /// Sends an endpoint with the client whose call needs the tokens, in that call's environment.
  ///
  /// The call carries none of the client's credentials and waits for no refresh. It follows no redirects, since its
  /// content is secret. ``CallRegistry/cancelAll()`` does not cancel it. The endpoint's own timeout applies in addition
  /// to the limit of the refresh.
  ///
  /// Where the transport supports it (`NIOTransport`), the call uses a new connection, so that no refresh token is lost
  /// when a server closes an idle connection at that moment. If a server accepts the same refresh token twice, mark the
  /// endpoint with `.idempotent()`: the call is then also retried if there was no response.
  ///
  /// - Throws: the same errors as `send` of a client.
  public func send<E: Endpoint>(_ endpoint: E) async throws(CallError) -> E.Value {
    let sent = serverClock.clock.now
    let request = endpoint.credentials(.none).redirects(.none).setting(SharedWorkKey.self, true)
      .setting(NewConnectionKey.self, true)
    let response = try await client.response(to: request)
    if let date = ResponseMessage(head: response.head).date { serverClock.update(date, sentAt: sent) }
    return response.value
  }

  /// Returns the time until a date that the server sent, such as `expires_at` or a token's `exp`.
  ///
  /// The time is measured by the server's clock, if a response had a `Date` (RFC 9110 §6.6.1), because the device's
  /// clock may be wrong by hours. Negative for a date in the past; at most about a hundred years.
  public func time(until moment: Date) -> Duration {
    Duration(clampingSeconds: moment.timeIntervalSince(serverClock.now))
  }
}

extension RefreshContext {
  /// Requests new tokens from an OAuth 2.0 token endpoint (RFC 6749 §6): a form with `grant_type=refresh_token` and the
  /// refresh token.
  ///
  /// - Parameters:
  ///   - path: the path of the token endpoint, below the environment's base URL.
  ///   - parameters: further parameters, such as `client_id`. Default: none.
  /// - Throws: the same errors as `send` of a client; ``RefreshRejection`` if there is no refresh token.
  public func tokens(from path: RequestPath, adding parameters: Query = [:]) async throws -> Tokens {
    guard case .tokens(let old) = credential, let token = old.refresh else { throw RefreshRejection() }
    var form: Query = ["grant_type": "refresh_token", "refresh_token": token.value]
    form.append(parameters)
    return try await send(Request<Tokens>.post(path, content: .form(form)))
  }
}

/// An error that a refresh throws if the credentials can never be refreshed again, and the server indicated this by
/// means other than 401, 403 or `invalid_grant`.
public struct RefreshRejection: Error, Sendable, Hashable {
  /// Creates an error.
  public init() {}

  /// Whether only a new sign-in helps (RFC 6749 §5.2): after 401 and 403, and after 400 only with `invalid_grant`,
  /// since any other 400 may concern the request itself.
  static func isPermanent(_ error: any Error) -> Bool {
    if error is RefreshRejection { return true }
    if let error = error as? any RefreshError { return error.isPermanent }
    guard let error = error as? CallError else { return false }
    if error.underlying is RefreshRejection { return true }
    guard error.code == .rejected else { return false }
    switch error.status {
    case 401, 403: return true
    case 400: return error.content.flatMap { try? $0.decode(TokenError.self) }?.error == "invalid_grant"
    default: return false
    }
  }

  private struct TokenError: Decodable {
    let error: String
  }
}

/// An error of a refresh that states whether only a new sign-in helps.
package protocol RefreshError: Error {
  /// Whether the credentials can never be refreshed again.
  var isPermanent: Bool { get }
}

/// A failed refresh, with the error of the calls that need the refresh.
struct RefreshFailure: Sendable {
  /// A session that ended because the token endpoint rejected its credentials.
  struct EndedSession: Sendable {
    let principal: UInt64
    /// The generation after the session.
    let next: UInt64
  }

  /// The generation of the credentials that were not replaced.
  let generation: UInt64
  /// The error of the calls. It contains no confidential text of a server. Its source is not the server of the calls,
  /// which has not failed.
  let error: any Error
  /// `nil` if a later refresh may succeed.
  var endedSession: EndedSession?

  var kind: RefreshState.Failure { endedSession == nil ? .temporary : .permanent }
}

extension RefreshFailure {
  /// The error of a refresh that exceeded its timeout.
  static var overdue: any Error {
    TransportError(.timeout, in: .waiting, requestState: .notSent, detail: "the refresh took too long").attributed(
      to: .credentials)
  }

  /// The error of an attempt that exceeded its timeout during the refresh.
  static var attemptTimedOut: any Error {
    TransportError.attemptTimedOut(in: .waiting, requestState: .notSent).attributed(to: .credentials)
  }

  /// The error for credentials that are unusable for a reason that is no longer known.
  static var unknown: any Error {
    refused("the refresh failed")
  }

  /// Returns the error of calls whose session is over.
  ///
  /// - Parameter error: the error of the refresh.
  static func sessionOver(_ error: any Error) -> any Error {
    TransportError(.refused, requestState: .notSent, detail: "the session is over", underlying: error)
      .attributed(to: .credentials)
  }

  /// Returns the error of calls whose refresh failed temporarily.
  ///
  /// - Parameter error: the error of the refresh.
  static func temporary(_ error: any Error) -> any Error {
    switch error {
    // The content of a successful response may contain the tokens.
    case let error as CallError where error.code == .decoding || error.code == .malformedResponse:
      let path = error.codingPath.map { " at \($0)" } ?? ""
      return TransportError(
        .malformedResponse, requestState: .notSent, detail: "the response to the refresh could not be read\(path)"
      ).attributed(to: .credentials)
    // The status of the token endpoint is not the status of the call.
    case let error as CallError where error.code == .rejected:
      var failure = refused(
        "needed another call, which failed (\(error.code.rawValue): \(error.endpoint))", error)
      failure.retryAfter = error.retryAfter
      return failure
    case is CallError: return error
    case let error as TransportError: return error.attributed(to: .credentials)
    // An error of the app's own type, or a cancellation that no waiting call has caused.
    default: return refused("the refresh failed: \(error.loggedReason)", error)
    }
  }

  private static func refused(_ detail: String, _ error: (any Error)? = nil) -> TransportError {
    TransportError(.refused, requestState: .notSent, detail: detail, underlying: error).attributed(to: .trafficControl)
  }
}

/// The server's clock, estimated from the latest response that had a `Date`.
///
/// The estimate advances with the client's monotonic clock, so the device's calendar does not matter once a server has
/// responded.
final class ServerClock: Sendable {
  private let reading = Mutex<(date: Date, instant: MonotonicInstant)?>(nil)
  let clock: any MonotonicClock

  init(_ clock: any MonotonicClock) {
    self.clock = clock
  }

  /// Sets the clock by a response's `Date`, which is the server's time at an instant between `sent` and now, rounded
  /// down to whole seconds.
  func update(_ date: Date, sentAt sent: MonotonicInstant) {
    let now = clock.now
    let half = sent.duration(to: now) / 2
    reading.withLock { $0 = (date.addingTimeInterval(0.5), sent.advanced(by: half)) }
  }

  /// The server's time; the device's time before the first response with a `Date`.
  var now: Date {
    guard let reading = reading.withLock({ $0 }) else { return Date() }
    let elapsed = reading.instant.duration(to: clock.now).components
    return reading.date.addingTimeInterval(Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18)
  }
}
