public import ApusCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A jar that keeps the cookies of a server, and sends them with later requests (RFC 6265bis). In memory.
///
/// ```swift
/// let api = Client(baseURL: "https://api.example.com/v1") {
///   $0.cookies = CookieJar()
/// }
/// ```
///
/// A jar serves the host of the environment that it belongs to, and the hosts that an endpoint trusts
/// (``Endpoint/trusting(_:)``), on every port. No other host sets a cookie or gets one, whatever its `Domain` says. Each
/// hop of a redirect sends and sets its own cookies.
///
/// - `Secure` cookies are sent and set over https only, also for `localhost`. `HttpOnly` and `SameSite` have no effect.
/// - The limits are 50 cookies of a domain, 3,000 in total, and 4,096 bytes for a name with its value. A cookie
///   expires after 400 days at the latest.
/// - A request with a `Cookie` field of its own gets no cookies from the jar.
/// - Cookies are credentials: logs, traces, descriptions and `curl()` mask them.
///
/// Several environments and clients may share a jar.
public final class CookieJar: Sendable, SelfRedacting {
  private let state: Mutex<CookieState>
  private let now: @Sendable () -> Date

  /// Creates an empty jar.
  ///
  /// - Parameter now: the wall clock, by which cookies expire. Default: the system's wall clock.
  public init(now: @escaping @Sendable () -> Date = { Date() }) {
    state = Mutex(CookieState(number: Self.newNumber()))
    self.now = now
  }

  /// Removes all cookies, as ``Client/signOut()`` does.
  ///
  /// Calls that have not been sent yet end with ``PrincipalChangedError``. The response of a call that has been sent sets
  /// no cookie.
  public func removeAll() {
    let number = Self.newNumber()
    state.withLock { $0.removeAll(number: number) }
  }

  /// The number of cookies.
  public var description: String { "CookieJar (\(state.withLock(\.count)) cookies)" }

  /// The number of the jar's present session. Random, so that it differs from the numbers of all other sessions and
  /// jars. It changes when the jar is cleared.
  package var number: UInt64 { state.withLock(\.number) }

  private static func newNumber() -> UInt64 { UInt64.random(in: 1 ... .max) }

  /// The time in seconds since 1970, up to the year 9999.
  private var seconds: Int64 {
    min(max(Int64(exactly: now().timeIntervalSince1970.rounded(.down)) ?? 0, 0), 253_402_300_799)
  }

  /// Returns the cookies of a request, and the jar's number.
  func cookies(for target: CookieTarget) -> (cookies: [Cookie], number: UInt64) {
    let seconds = seconds
    return state.withLock { ($0.cookies(for: target, at: seconds), $0.number) }
  }

  /// Stores the cookies of a response.
  ///
  /// - Parameters:
  ///   - fields: the values of its `Set-Cookie` fields, in order.
  ///   - target: its request.
  ///   - number: the jar's number when the request was sent.
  func store(_ fields: [[UInt8]], from target: CookieTarget, sentWith number: UInt64) -> [CookieState.Outcome] {
    let seconds = seconds
    return state.withLock { state in
      fields.map { state.store($0, from: target, sentWith: number, at: seconds) }
    }
  }
}

/// The jar of an environment.
private enum CookieJarKey: ContextKey {
  /// No jar: cookies are neither kept nor sent.
  static let defaultValue: CookieJar? = nil
}

extension Environment {
  /// The jar that keeps the cookies of this server; `nil`: cookies are neither kept nor sent. Default: `nil`.
  ///
  /// A client has the middleware for cookies if the environment in its configuration has a jar.
  public var cookies: CookieJar? {
    get { values[CookieJarKey.self] }
    set { values[CookieJarKey.self] = newValue }
  }
}
