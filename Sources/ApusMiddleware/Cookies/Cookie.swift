import ApusCore

/// A stored cookie (RFC 6265bis §5.7).
struct Cookie: Hashable, Sendable, SelfRedacting {
  /// The properties of which no two cookies of a jar have the same values.
  struct Key: Hashable, Sendable {
    let name: [UInt8]
    let domain: String
    let isHostOnly: Bool
    let path: [UInt8]
  }

  let key: Key
  let value: [UInt8]
  /// The time at which the cookie expires, in seconds since 1970; `nil` for a session cookie.
  let expiry: Int64?
  let isSecure: Bool
  /// Whether only HTTP may read the cookie. An app has no scripts, so this has no effect.
  let isHTTPOnly: Bool
  let sameSite: SetCookie.SameSite?
  /// The position in the order in which the jar's cookies were created. A cookie that replaces another keeps its
  /// position.
  var creation: UInt64
  /// The position in the order in which the jar's cookies were last stored or sent.
  var lastAccess: UInt64

  /// - Parameters:
  ///   - key: the key, from the attributes and the request.
  ///   - cookie: the attributes.
  ///   - now: the current time, in seconds since 1970.
  ///   - serial: the position of the cookie in both orders.
  init(_ key: Key, _ cookie: SetCookie, at now: Int64, serial: UInt64) {
    self.key = key
    value = cookie.value
    expiry = cookie.expiry(at: now)
    isSecure = cookie.isSecure
    isHTTPOnly = cookie.isHTTPOnly
    sameSite = cookie.sameSite
    creation = serial
    lastAccess = serial
  }

  /// Whether the cookie has expired.
  func isExpired(at now: Int64) -> Bool { expiry.map { $0 <= now } ?? false }

  /// Whether another cookie differs only in its use.
  func hasSameContent(as other: Cookie) -> Bool {
    var other = other
    other.lastAccess = lastAccess
    return self == other
  }

  /// Whether a request to a host covered by the cookie's domain carries the cookie.
  func matches(_ target: CookieTarget) -> Bool {
    (!key.isHostOnly || key.domain == target.host) && (!isSecure || target.isSecure)
      && CookiePath.covers(key.path, target.path)
  }

  /// The domain only. Name, value and path may identify a session.
  var description: String { "cookie of \(key.domain)" }
}

extension [Cookie] {
  /// The value of the field `Cookie` (RFC 6265bis §5.8.3); `nil` without cookies.
  var fieldValue: [UInt8]? {
    guard !isEmpty else { return nil }
    var bytes: [UInt8] = []
    for cookie in self {
      if !bytes.isEmpty { bytes += "; ".utf8 }
      bytes += cookie.key.name + [UInt8(ascii: "=")]
      bytes += cookie.value
    }
    return bytes
  }
}
