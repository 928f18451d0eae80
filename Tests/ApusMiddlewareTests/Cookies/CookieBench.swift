import ApusCore
import Testing

@testable import ApusMiddleware

/// A jar with a calendar that tests move, addressed by URLs.
struct CookieBench {
  var state: CookieState
  /// The current time: 15 January 2027, 08:00:00 UTC.
  var now: Int64 = 1_800_000_000
  /// The hosts that the jar serves; `nil`: all hosts.
  var hosts: CookieHosts?

  init(
    limits: CookieState.Limits = CookieState.Limits(), hosts: CookieHosts? = nil,
    isPublicSuffix: (@Sendable (String) -> Bool)? = nil
  ) {
    state = CookieState(number: 1, limits: limits, isPublicSuffix: isPublicSuffix)
    self.hosts = hosts
  }

  /// Returns the target of a URL; `nil` if the jar does not serve its host.
  func target(_ url: String) throws -> CookieTarget? {
    let scheme = url.hasPrefix("https:") ? "https" : "http"
    let rest = url.dropFirst(scheme.count + 3)
    let slash = rest.firstIndex(of: "/") ?? rest.endIndex
    let origin = try #require(Origin(scheme: scheme, authority: String(rest[..<slash])))
    let path = String(rest[slash...])
    guard let hosts else {
      return CookieTarget(host: origin.host, path: CookiePath.path(of: path), isSecure: scheme == "https")
    }
    return CookieTarget(origin, target: path, among: hosts)
  }

  /// Stores the cookie of a response; `nil` if the jar does not serve the host.
  @discardableResult
  mutating func set(
    _ field: String, from url: String = "https://api.example.com/v1/users"
  ) throws -> CookieState.Outcome? {
    guard let target = try target(url) else { return nil }
    return state.store(Array(field.utf8), from: target, sentWith: state.number, at: now)
  }

  /// Returns the field `Cookie` of a request; empty without cookies.
  mutating func sent(to url: String = "https://api.example.com/v1/users") throws -> String {
    guard let target = try target(url) else { return "" }
    return state.cookies(for: target, at: now).fieldValue.map { String(decoding: $0, as: UTF8.self) } ?? ""
  }

  /// The names and values of all stored cookies, in order of creation.
  var stored: [String] {
    state.all.map {
      "\(String(decoding: $0.key.name, as: UTF8.self))=\(String(decoding: $0.value, as: UTF8.self))"
    }
  }
}
