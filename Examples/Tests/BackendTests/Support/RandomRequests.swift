/// A generator of valid, nearly valid and invalid requests.
struct RandomRequests {
  struct Request: Sendable {
    let method: String
    let message: String
  }

  private static let methods = ["GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "PROPFIND"]
  /// The segments of paths, without those of stalled and slow requests.
  private static let segments = [
    "accounts", "me", "sessions", "refresh", "friends", "categories", "category", "3", "movie", "popular",
    "now_playing", "search", "videos", "recommendations", "faults", "status", "malformed", "wrong-shape", "flaky",
    "redirect", "news",
    "__log", "1", "2", "32710", "-1", "99999999999999999999", "%2F", "%00", "%", "..", "*", "{id}", "", ":id", "é",
  ]
  private static let paths = [
    "/accounts", "/accounts/me", "/sessions", "/sessions/refresh", "/sessions/revoke", "/friends", "/friends/1",
    "/friends/1/category", "/friends/categories", "/3/movie/popular", "/3/movie/32710", "/3/search/movie", "/__log",
    "/faults/flaky", "/faults/redirect", "/t/p/w185/32710.svg", "/news", "/news/1", "/events", "/", "/avatars",
    "/avatars/1", "/films/32710.mp4",
    "/friends/of-friends", "/authorize", "/token", "/revoke", "/.well-known/oauth-authorization-server",
  ]
  private static let names =
    ["page", "per_page", "category", "query", "api_key", "after", "count", "key", "", "%zz"]
    + ["client_id", "redirect_uri", "response_type", "code_challenge", "state"]
  private static let values = [
    "1", "0", "-1", "demo-key", "demo-app", "http://127.0.0.1:1/callback", "code", "x", "%", "%00", "%FF",
    "a+b", "9223372036854775808", "''\"--",
  ]
  private static let contents = [
    "", "{}", "[]", "null", "{", "\"", "1e999", #"{"name": "Ann"}"#, #"{"name": null, "email": 1}"#,
    #"{"category": null}"#, #"{"category": "x"}"#, #"{"name": "\u0000", "email": "a@b.cc", "password": "12345678"}"#,
    #"{"name": "A", "email": "a@b.cc", "password": "12345678"}"#, #"{"refresh_token": "x"}"#, #"{"name": "\ud800"}"#,
    "client_id=demo-app&grant_type=refresh_token&refresh_token=x", "client_id=demo-app&token=x", "a=%&a=1",
  ]
  private static let types =
    ["application/json", "application/json; charset=utf-8", "text/plain", "", ";", "a/b+json"]
    + ["application/x-www-form-urlencoded"]

  private var generator: SeededGenerator
  private let token: String

  init(seed: UInt64, token: String) {
    generator = SeededGenerator(seed: seed)
    self.token = token
  }

  mutating func next() -> Request {
    let method = chance(50) ? "BREW" : pick(Self.methods)
    var lines = ["\(method) \(path())\(query()) HTTP/1.1", "Host: x"]
    let credentials = ["Bearer \(token)", "Bearer x", "Bearer", "Basic eA==", "\"", ""]
    if chance(2) { lines.append("Authorization: \(pick(credentials))") }
    if chance(4) { lines.append("Idempotency-Key: \(pick(Self.values + ["a b", ""]))") }
    var content = ""
    if ["POST", "PUT", "PATCH"].contains(method) || chance(8) {
      content = chance(20) ? String(repeating: "[", count: 20_000) : pick(Self.contents)
      lines += ["Content-Type: \(pick(Self.types))", "Content-Length: \(content.utf8.count)"]
    }
    return Request(method: method, message: lines.joined(separator: "\r\n") + "\r\n\r\n" + content)
  }

  private mutating func path() -> String {
    if chance(2) { return pick(Self.paths) }
    return "/" + (0..<number(5)).map { _ in pick(Self.segments) }.joined(separator: "/")
  }

  private mutating func query() -> String {
    if chance(2) { return "" }
    return "?" + (0..<number(4)).map { _ in "\(pick(Self.names))=\(pick(Self.values))" }.joined(separator: "&")
  }

  private mutating func pick(_ list: [String]) -> String { list.randomElement(using: &generator) ?? "" }

  private mutating func number(_ limit: Int) -> Int { Int.random(in: 0..<limit, using: &generator) }

  /// Returns `true` with a probability of 1 in `odds`.
  private mutating func chance(_ odds: Int) -> Bool { number(odds) == 0 }
}
