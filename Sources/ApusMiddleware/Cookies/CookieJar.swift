public import ApusCore
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A jar that keeps the cookies of a server, and sends them with later requests (RFC 6265bis).
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
/// A jar is in memory. `CookieJar(file:key:account:)` of the product `ApusCredentials` keeps cookies in a file; with a
/// list of public suffixes it serves every host. Several environments and clients may share a jar.
public final class CookieJar: Sendable, SelfRedacting {
  private let state: Mutex<CookieState>
  private let now: @Sendable () -> Date
  /// The place that keeps the cookies; `nil`: only memory.
  package let storage: (any CookieStorage)?
  /// Whether the jar serves the hosts of all calls, because it knows the public suffixes.
  let servesAllHosts: Bool

  /// Creates an empty jar.
  ///
  /// - Parameter now: the wall clock, by which cookies expire. Default: the system's wall clock.
  public init(now: @escaping @Sendable () -> Date = { Date() }) {
    state = Mutex(CookieState(number: Self.newNumber()))
    self.now = now
    (storage, servesAllHosts) = (nil, false)
  }

  /// Creates a jar with the cookies of an earlier process.
  ///
  /// - Parameters:
  ///   - saved: the cookies.
  ///   - storage: the place in which the jar saves its cookies after each change.
  ///   - isPublicSuffix: whether a domain in lower case is a public suffix. With it the jar serves all hosts. `nil`: the
  ///     jar serves the hosts of its environments.
  ///   - now: the wall clock.
  package init(
    _ saved: SavedCookies, in storage: any CookieStorage, isPublicSuffix: (@Sendable (String) -> Bool)?,
    now: @escaping @Sendable () -> Date
  ) {
    state = Mutex(CookieState(saved, isPublicSuffix: isPublicSuffix))
    self.now = now
    self.storage = storage
    servesAllHosts = isPublicSuffix != nil
  }

  /// Removes all cookies, as ``Client/signOut()`` does.
  ///
  /// Calls that have not been sent yet end with ``PrincipalChangedError``. The response of a call that has been sent sets
  /// no cookie. A jar with a file starts to remove the cookies of the file; `signOut` also waits for the end.
  public func removeAll() {
    let number = Self.newNumber()
    state.withLock { $0.removeAll(number: number) }
    storage?.save(self)
  }

  /// The number of cookies, the name of the file, and the reason if the file could not be written.
  public var description: String {
    var facts = ["\(state.withLock(\.count)) cookies"]
    if let storage {
      facts.append("in \(storage.name)")
      if let failure = storage.failure { facts.append("not saved: \(failure.error)") }
    }
    return "CookieJar (\(facts.joined(separator: ", ")))"
  }

  /// The cookies that outlive the process.
  package var saved: SavedCookies {
    let seconds = seconds
    return state.withLock { $0.saved(at: seconds) }
  }

  /// The number of the jar's present session. Random, so that it differs from the numbers of all other sessions and
  /// jars. It changes when the jar is cleared.
  package var number: UInt64 { state.withLock(\.number) }

  /// Returns a number for a new session.
  package static func newNumber() -> UInt64 { UInt64.random(in: 1 ... .max) }

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
    let (outcomes, isChanged) = state.withLock { state in
      let revision = state.revision
      let outcomes = fields.map { state.store($0, from: target, sentWith: number, at: seconds) }
      return (outcomes, state.revision != revision)
    }
    if isChanged { storage?.save(self) }
    return outcomes
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
