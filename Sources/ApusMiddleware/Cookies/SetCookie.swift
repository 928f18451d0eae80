import ApusCore

/// A parsed `Set-Cookie` field (RFC 6265bis §5.6), before it is known whether the cookie can be stored.
struct SetCookie: Hashable, Sendable {
  /// The context in which browsers send a cookie to another site (§5.6.7). An app has no sites, so the value has no
  /// effect.
  enum SameSite: String, Hashable, Sendable, Codable {
    case strict
    case lax
    case none
  }

  /// The maximum length of the name and the value together, in bytes.
  static let maximumLength = 4096
  /// The maximum length of an attribute's value, in bytes. A longer attribute is ignored.
  static let maximumAttributeLength = 1024
  /// The maximum lifetime of a cookie in seconds: 400 days (§5.5).
  static let maximumLifetime: Int64 = 400 * 24 * 60 * 60

  /// The name, never empty.
  let name: [UInt8]
  let value: [UInt8]
  /// The last `Domain` in lower case, without one leading dot. Empty if there is none.
  private(set) var domain: [UInt8] = []
  /// The last `Path`. `nil` if there is none, or if it does not begin with a slash.
  private(set) var path: [UInt8]?
  /// The last valid `Max-Age`, in seconds.
  private(set) var maximumAge: Int64?
  /// The last valid `Expires`, in seconds since 1970.
  private(set) var expires: Int64?
  private(set) var isSecure = false
  private(set) var isHTTPOnly = false
  /// The last `SameSite`; `nil` if there is none, or if its value is unknown.
  private(set) var sameSite: SameSite?

  /// Parses the value of one `Set-Cookie` field.
  ///
  /// Returns `nil` if the value contains a control character other than a tab, has no name (RFC 6265 §5.2), or is too
  /// long. RFC 6265bis stores cookies without names for browsers; a server could read their values as names.
  init?(_ field: [UInt8]) {
    guard !field.contains(where: { $0 != 0x09 && ($0 < 0x20 || $0 == 0x7F) }) else { return nil }
    var parts = field[...].split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)[...]
    guard let pair = parts.popFirst() else { return nil }
    guard let sign = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
    name = Array(pair[..<sign].trimmed)
    value = Array(pair[(sign + 1)...].trimmed)
    guard !name.isEmpty, name.count + value.count <= Self.maximumLength else { return nil }
    for part in parts { readAttribute(part) }
  }

  private mutating func readAttribute(_ part: ArraySlice<UInt8>) {
    let sign = part.firstIndex(of: UInt8(ascii: "="))
    let name = part[..<(sign ?? part.endIndex)].trimmed
    let value = sign.map { part[($0 + 1)...].trimmed } ?? []
    // The longest attribute name has eight letters.
    guard name.count <= 8, value.count <= Self.maximumAttributeLength else { return }
    switch String(decoding: name.map(\.asciiLowercased), as: UTF8.self) {
    case "expires": if let date = CookieDate.parse(value) { expires = date }
    case "max-age": if let age = Self.age(value) { maximumAge = age }
    case "domain": domain = (value.first == UInt8(ascii: ".") ? value.dropFirst() : value).map(\.asciiLowercased)
    case "path": path = value.first == UInt8(ascii: "/") ? Array(value) : nil
    case "secure": isSecure = true
    case "httponly": isHTTPOnly = true
    case "samesite": sameSite = SameSite(value)
    default: break
    }
  }

  /// Reads digits after an optional minus sign (§5.6.2). Numbers that are too large become the largest number.
  private static func age(_ text: ArraySlice<UInt8>) -> Int64? {
    let isNegative = text.first == UInt8(ascii: "-")
    let digits = isNegative ? text.dropFirst() : text
    guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
    return isNegative ? 0 : Int64(String(decoding: digits, as: UTF8.self)) ?? .max
  }

  /// Returns the time at which the cookie expires, in seconds since 1970; `nil` for a session cookie.
  ///
  /// `Max-Age` takes precedence over `Expires`. No cookie is valid for more than 400 days (§5.5).
  ///
  /// - Parameter now: the current time, in seconds since 1970.
  func expiry(at now: Int64) -> Int64? {
    let latest = now + Self.maximumLifetime
    if let maximumAge { return maximumAge <= 0 ? .min : now + min(maximumAge, Self.maximumLifetime) }
    return expires.map { min($0, latest) }
  }
}

extension SetCookie.SameSite {
  fileprivate init?(_ value: ArraySlice<UInt8>) {
    switch String(decoding: value.map(\.asciiLowercased), as: UTF8.self) {
    case "strict": self = .strict
    case "lax": self = .lax
    case "none": self = .none
    default: return nil
    }
  }
}

/// A prefix of a cookie's name that tells the server which attributes the cookie was set with (RFC 6265bis §5.4).
enum CookiePrefix: CaseIterable, Hashable, Sendable {
  /// `__Secure-`: the cookie has `Secure`.
  case secure
  /// `__Host-`: the cookie has `Secure` and the path `/`, and belongs to one host.
  case host

  private var text: String {
    switch self {
    case .secure: "__secure-"
    case .host: "__host-"
    }
  }

  /// Finds the prefix of a name, compared case-insensitively, because some servers ignore the case of names.
  init?(of name: some Collection<UInt8>) {
    let prefix = Self.allCases.first { prefix in
      name.prefix(prefix.text.utf8.count).lazy.map(\.asciiLowercased).elementsEqual(prefix.text.utf8)
    }
    guard let prefix else { return nil }
    self = prefix
  }

  /// Whether a cookie with this prefix has the attributes that it needs.
  func permits(_ cookie: SetCookie) -> Bool {
    switch self {
    case .secure: cookie.isSecure
    case .host: cookie.isSecure && cookie.domain.isEmpty && cookie.path == [UInt8(ascii: "/")]
    }
  }
}
