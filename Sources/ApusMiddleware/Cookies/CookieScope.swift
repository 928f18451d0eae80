import ApusCore

/// The hosts to which a cookie is sent (RFC 6265bis §5.1.2, §5.1.3).
enum CookieDomain {
  /// Whether a domain covers a host: it is the host, or the host is a name below the domain. Both are in lower case.
  ///
  /// No name is below an address.
  static func covers(_ domain: String, host: String) -> Bool {
    if domain.utf8.elementsEqual(host.utf8) { return true }
    guard !domain.isEmpty, host.utf8.count > domain.utf8.count, !isAddress(host) else { return false }
    let rest = host.utf8.dropLast(domain.utf8.count)
    return rest.last == UInt8(ascii: ".") && host.utf8.suffix(domain.utf8.count).elementsEqual(domain.utf8)
  }

  /// Returns the host and every name above it, for `a.b.c` also `b.c` and `c`. For an address only the address.
  static func chain(of host: String) -> [String] {
    var chain = [host]
    guard !isAddress(host) else { return chain }
    var rest = host.utf8[...]
    while let dot = rest.firstIndex(of: UInt8(ascii: ".")) {
      rest = rest[host.utf8.index(after: dot)...]
      if !rest.isEmpty { chain.append(String(Substring(rest))) }
    }
    return chain
  }

  /// Whether a host is an IPv6 address, with or without brackets, or ends in a number and so is an IPv4 address or
  /// invalid.
  static func isAddress(_ host: String) -> Bool {
    if host.utf8.contains(UInt8(ascii: ":")) { return true }
    let labels = host.utf8.split(separator: UInt8(ascii: "."))
    guard let last = labels.last else { return false }
    if last.allSatisfy(\.isDigit) { return true }
    return last.starts(with: "0x".utf8) && last.dropFirst(2).allSatisfy { $0.isDigit || isHexLetter($0) }
  }

  private static func isHexLetter(_ byte: UInt8) -> Bool { byte >= UInt8(ascii: "a") && byte <= UInt8(ascii: "f") }

  /// Whether a domain has one label, and so contains all names below a top-level domain. A dot at the end does not
  /// count.
  static func isSingleLabel(_ domain: String) -> Bool {
    let label = domain.utf8.last == UInt8(ascii: ".") ? domain.utf8.dropLast() : domain.utf8[...]
    return !label.contains(UInt8(ascii: "."))
  }
}

/// The paths for which a cookie is sent (RFC 6265bis §5.1.4).
enum CookiePath {
  private static let slash = UInt8(ascii: "/")

  /// Returns the path of a request target, without its query.
  static func path(of target: String) -> [UInt8] {
    let path = target.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
    return path.first == slash ? Array(path) : [slash]
  }

  /// Returns the path of a cookie without a usable `Path`: the folder of the request, without its last slash.
  static func defaultPath(of path: [UInt8]) -> [UInt8] {
    guard let last = path.lastIndex(of: slash), last > 0, path.first == slash else { return [slash] }
    return Array(path[..<last])
  }

  /// Whether a cookie's path covers the path of a request: it is that path, or a folder above it.
  static func covers(_ cookiePath: [UInt8], _ path: [UInt8]) -> Bool {
    guard path.starts(with: cookiePath) else { return false }
    return path.count == cookiePath.count || cookiePath.last == slash || path[cookiePath.count] == slash
  }
}

/// The properties of a request that decide which cookies it carries, and which cookies its response may set.
struct CookieTarget: Hashable, Sendable {
  /// The host in lower case. An IPv6 address is in brackets.
  let host: String
  /// The path without the query.
  let path: [UInt8]
  /// Whether the request uses TLS. Unlike in browsers, http to a loopback host is not secure.
  let isSecure: Bool

  init(host: String, path: [UInt8], isSecure: Bool) {
    self.host = host.lowercased()
    self.path = path
    self.isSecure = isSecure
  }

  /// - Parameters:
  ///   - origin: the origin of the request. Its port has no effect (§8.5).
  ///   - target: the request target: path and query.
  ///   - hosts: the hosts that the jar serves; `nil`: all. For any other host the result is `nil`.
  init?(_ origin: Origin, target: String, among hosts: CookieHosts?) {
    if let hosts, !hosts.contain(origin.host) { return nil }
    self.init(host: origin.host, path: CookiePath.path(of: target), isSecure: origin.scheme == "https")
  }
}

/// The hosts that a jar serves: the host of its environment, and the hosts of the origins that a call trusts.
///
/// A response of any other host sets no cookie, and a request to any other host carries none. So a `Domain` never takes
/// a cookie to a foreign host, and no list of public suffixes is needed.
struct CookieHosts: Hashable, Sendable {
  /// The origin of the base URL.
  let own: Origin?
  var trusted: Set<Origin> = []

  func contain(_ host: String) -> Bool {
    own?.host == host || trusted.contains { $0.host == host }
  }
}
