import ApusCore

/// The cookies of a jar. A pure state machine (RFC 6265bis §5.7, §5.8), driven by ``CookieJar``.
///
/// The caller decides by ``CookieHosts`` which requests the state sees. Times are seconds since 1970. The orders of
/// creation and access are counted, so that they do not depend on the clock.
struct CookieState: Sendable {
  /// The maximum numbers of cookies (§6.1).
  struct Limits: Hashable, Sendable {
    var perDomain = 50
    var total = 3000
  }

  /// The result of a `Set-Cookie` field.
  enum Outcome: Hashable, Sendable {
    /// The cookie was added, or replaced an older cookie.
    case stored
    /// The cookie has expired already: an older cookie with the same key was removed, if there was one.
    case removed
    case ignored(Refusal)
  }

  /// The reason why a cookie was not stored.
  enum Refusal: Hashable, Sendable, CaseIterable {
    /// The field cannot be parsed or is too long.
    case malformed
    /// The `Domain` does not cover the host of the response.
    case foreignDomain
    /// The cookie is `Secure` or would replace a `Secure` cookie, and the response came without TLS.
    case insecure
    /// The name has a prefix, and the cookie does not have the attributes that the prefix requires.
    case prefix
    /// The jar was cleared after the request was sent.
    case outdated
  }

  /// A number that changes whenever the jar is cleared. Responses and requests with different numbers belong to
  /// different sessions.
  private(set) var number: UInt64
  private let limits: Limits
  /// Whether a domain is a public suffix, below which anyone can register names; `nil`: unknown.
  private let isPublicSuffix: (@Sendable (String) -> Bool)?
  private var cookies: [String: [Cookie]] = [:]
  /// The number of cookies, including expired cookies that were not removed yet.
  private(set) var count = 0
  /// The last position in the orders of creation and access.
  private var serial: UInt64 = 0
  /// Counts the changes that ``saved(at:)`` shows, except that cookies expire or are sent.
  private(set) var revision: UInt64 = 0

  /// Creates an empty jar.
  ///
  /// - Parameters:
  ///   - number: the number of the jar, different from the numbers of all other jars.
  ///   - limits: the maximum numbers of cookies. Default: 50 for each domain, 3,000 in total.
  ///   - isPublicSuffix: whether a domain in lower case is a public suffix. A cookie with such a `Domain` is ignored,
  ///     or host-only if the domain is the response's own host. Default: `nil`, no list; only the hosts that the jar
  ///     serves then limit a `Domain`.
  init(number: UInt64, limits: Limits = Limits(), isPublicSuffix: (@Sendable (String) -> Bool)? = nil) {
    self.number = number
    self.limits = limits
    self.isPublicSuffix = isPublicSuffix
  }

  /// Restores the cookies of an earlier process.
  ///
  /// - Parameters:
  ///   - saved: the cookies, and the number of the jar.
  ///   - isPublicSuffix: as for ``init(number:limits:isPublicSuffix:)``.
  init(_ saved: SavedCookies, isPublicSuffix: (@Sendable (String) -> Bool)? = nil) {
    self.init(number: saved.number, isPublicSuffix: isPublicSuffix)
    for cookie in saved.items.compactMap({ Cookie($0) }) {
      cookies[cookie.key.domain, default: []].append(cookie)
      count += 1
      serial = max(serial, cookie.creation, cookie.lastAccess)
    }
  }

  /// The cookies that outlive the process, in order of creation. Expired cookies are not among them.
  func saved(at now: Int64) -> SavedCookies {
    SavedCookies(number: number, items: all.filter { !$0.isExpired(at: now) }.map { SavedCookies.Item($0) })
  }

  /// All cookies, in order of creation.
  var all: [Cookie] { cookies.values.joined().sorted { $0.creation < $1.creation } }

  /// Removes all cookies.
  ///
  /// - Parameter number: the new number of the jar.
  mutating func removeAll(number: UInt64) {
    cookies = [:]
    count = 0
    revision += 1
    self.number = number
  }

  // MARK: Requests

  /// Returns the cookies of a request in the order in which they are sent: longer paths first, then older cookies first
  /// (§5.8.3).
  mutating func cookies(for target: CookieTarget, at now: Int64) -> [Cookie] {
    guard count > 0 else { return [] }
    var found: [Cookie] = []
    serial += 1
    for domain in CookieDomain.chain(of: target.host) {
      removeExpired(in: domain, at: now)
      guard let position = cookies.index(forKey: domain) else { continue }
      // In place, because a copy of the array would copy all cookies of the domain.
      for index in cookies.values[position].indices where cookies.values[position][index].matches(target) {
        cookies.values[position][index].lastAccess = serial
        found.append(cookies.values[position][index])
      }
    }
    return found.sorted {
      $0.key.path.count == $1.key.path.count ? $0.creation < $1.creation : $0.key.path.count > $1.key.path.count
    }
  }

  // MARK: Responses

  /// Stores, replaces or removes the cookie of one `Set-Cookie` field.
  ///
  /// - Parameters:
  ///   - field: the value of the field.
  ///   - target: the request of the response.
  ///   - sent: the jar's number when the request was sent. After a sign-out, a late response must not bring a session
  ///     back.
  ///   - now: the current time.
  mutating func store(_ field: [UInt8], from target: CookieTarget, sentWith sent: UInt64, at now: Int64) -> Outcome {
    guard sent == number else { return .ignored(.outdated) }
    guard let cookie = SetCookie(field) else { return .ignored(.malformed) }
    guard let key = key(of: cookie, from: target) else { return .ignored(.foreignDomain) }
    if !target.isSecure, cookie.isSecure || shadowsSecure(key, at: now) { return .ignored(.insecure) }
    if let prefix = CookiePrefix(of: cookie.name), !prefix.permits(cookie) { return .ignored(.prefix) }
    serial += 1
    return store(Cookie(key, cookie, at: now, serial: serial), at: now)
  }

  /// Returns the key of a cookie, or `nil` if its `Domain` does not cover the host of the response.
  private func key(of cookie: SetCookie, from target: CookieTarget) -> Cookie.Key? {
    let path = cookie.path ?? CookiePath.defaultPath(of: target.path)
    let hostOnly = Cookie.Key(name: cookie.name, domain: target.host, isHostOnly: true, path: path)
    guard !cookie.domain.isEmpty else { return hostOnly }
    // A name beyond ASCII covers no host, because hosts are in their ASCII form.
    let domain = String(decoding: cookie.domain, as: UTF8.self)
    guard CookieDomain.covers(domain, host: target.host) else { return nil }
    if let isPublicSuffix, isPublicSuffix(domain) { return domain == target.host ? hostOnly : nil }
    if CookieDomain.isAddress(domain) || CookieDomain.isSingleLabel(domain) { return hostOnly }
    return Cookie.Key(name: cookie.name, domain: domain, isHostOnly: false, path: path)
  }

  /// Whether a cookie from a response without TLS would replace or hide a `Secure` cookie (§5.7).
  private func shadowsSecure(_ key: Cookie.Key, at now: Int64) -> Bool {
    cookies.contains { domain, stored in
      (CookieDomain.covers(domain, host: key.domain) || CookieDomain.covers(key.domain, host: domain))
        && stored.contains {
          $0.isSecure && $0.key.name == key.name && CookiePath.covers($0.key.path, key.path) && !$0.isExpired(at: now)
        }
    }
  }

  private mutating func store(_ new: Cookie, at now: Int64) -> Outcome {
    var new = new
    var stored = cookies[new.key.domain] ?? []
    var old: Cookie?
    if let index = stored.firstIndex(where: { $0.key == new.key }) {
      let replaced = stored.remove(at: index)
      count -= 1
      if !replaced.isExpired(at: now) {
        new.creation = replaced.creation
        old = replaced
      }
    }
    let isExpired = new.isExpired(at: now)
    if isExpired ? old != nil : old.map({ !new.hasSameContent(as: $0) }) ?? true { revision += 1 }
    if !isExpired {
      stored.append(new)
      count += 1
    }
    cookies[new.key.domain] = stored.isEmpty ? nil : stored
    if !isExpired { evict(from: new.key.domain, at: now) }
    return isExpired ? .removed : .stored
  }

  // MARK: Limits

  /// Removes cookies above the limits: expired cookies first, then cookies of a domain with too many cookies, those
  /// that are not `Secure` first, then any cookies. Among equals, the least recently used cookie is removed (§5.7).
  private mutating func evict(from domain: String, at now: Int64) {
    if cookies[domain]?.count ?? 0 > limits.perDomain { removeExpired(in: domain, at: now) }
    while let stored = cookies[domain], stored.count > limits.perDomain {
      remove(stored.filter { !$0.isSecure }.leastRecentlyUsed ?? stored.leastRecentlyUsed)
    }
    guard count > limits.total else { return }
    for domain in Array(cookies.keys) { removeExpired(in: domain, at: now) }
    while count > limits.total { remove(cookies.values.compactMap(\.leastRecentlyUsed).leastRecentlyUsed) }
  }

  private mutating func removeExpired(in domain: String, at now: Int64) {
    guard let stored = cookies[domain], stored.contains(where: { $0.isExpired(at: now) }) else { return }
    replace(stored, by: stored.filter { !$0.isExpired(at: now) }, in: domain)
  }

  private mutating func remove(_ cookie: Cookie?) {
    guard let cookie, let stored = cookies[cookie.key.domain] else { return }
    replace(stored, by: stored.filter { $0.key != cookie.key }, in: cookie.key.domain)
  }

  private mutating func replace(_ stored: [Cookie], by kept: [Cookie], in domain: String) {
    count -= stored.count - kept.count
    cookies[domain] = kept.isEmpty ? nil : kept
  }
}

extension [Cookie] {
  /// The cookie that was neither stored nor sent for the longest time. Of cookies sent together, the one created first.
  fileprivate var leastRecentlyUsed: Cookie? {
    self.min { ($0.lastAccess, $0.creation) < ($1.lastAccess, $1.creation) }
  }
}
