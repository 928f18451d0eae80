import HTTPTypes

/// The server's rate limit as reported by a response.
///
/// Read from `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) and from the older fields
/// `RateLimit-Limit`, `-Remaining` and `-Reset`, `X-RateLimit-…` and `X-Rate-Limit-…`.
public struct ServerRateLimit: Sendable, Hashable {
  /// The number of requests allowed in the current window.
  public let limit: Int?
  /// The number of requests left in the current window.
  public let remaining: Int?
  /// The time from the response to the end of the window. An absolute time is compared with the response's own `Date`,
  /// so that a wrong clock has no effect; it is ignored if `Date` is missing.
  public let reset: Duration?

  init(limit: Int?, remaining: Int?, reset: Duration?) {
    (self.limit, self.remaining, self.reset) = (limit, remaining, reset)
  }

  /// Reads the fields of a response. `nil` if they report no limit.
  init?(_ fields: HTTPFields) {
    let state = Self.parameters(of: "ratelimit", in: fields)
    let policy = Self.parameters(of: "ratelimit-policy", in: fields)
    limit = policy["q"] ?? state["limit"] ?? Self.number("limit", in: fields)
    remaining = state["r"] ?? state["remaining"] ?? Self.number("remaining", in: fields)
    reset = (state["t"] ?? state["reset"] ?? Self.number("reset", in: fields)).flatMap { Self.delay($0, fields) }
    if limit == nil, remaining == nil, reset == nil { return nil }
  }

  /// The maximum delay in seconds (RFC 9111 §1.2.2).
  private static let longest = 1 << 31

  /// The smallest numbers that are read as a time since 1970, in seconds or milliseconds. Smaller numbers are delays.
  private static let leastTime = (seconds: 1_000_000_000, milliseconds: 1_000_000_000_000)

  private static func delay(_ number: Int, _ fields: HTTPFields) -> Duration? {
    guard number >= leastTime.seconds else { return .seconds(min(number, longest)) }
    guard let now = fields.single(.date).flatMap(HTTPDate.parse) else { return nil }
    let time = number >= leastTime.milliseconds ? number / 1000 : number
    return .seconds(min(max(0, time - Int(clamping: now)), longest))
  }

  /// Returns the number in one of the older fields.
  private static func number(_ name: String, in fields: HTTPFields) -> Int? {
    for prefix in ["ratelimit-", "x-ratelimit-", "x-rate-limit-"] {
      guard let name = HTTPField.Name(prefix + name), let value = fields[values: name].first else { continue }
      if let number = number(value.utf8) { return number }
    }
    return nil
  }

  /// Returns the numeric parameters of a field such as `"default";r=50;t=30`, or the older
  /// `limit=100, remaining=50, reset=30`.
  private static func parameters(of name: String, in fields: HTTPFields) -> [String: Int] {
    guard let name = HTTPField.Name(name), let value = fields[values: name].first else { return [:] }
    var parameters: [String: Int] = [:]
    for part in value.utf8.split(whereSeparator: { $0 == UInt8(ascii: ";") || $0 == UInt8(ascii: ",") }) {
      guard let sign = part.firstIndex(of: UInt8(ascii: "=")) else { continue }
      let key = part[..<sign].filter { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
      let text = String(decoding: key, as: UTF8.self).lowercased()
      if parameters[text] == nil { parameters[text] = number(part[part.index(after: sign)...]) }
    }
    return parameters
  }

  /// Returns the integer at the beginning of a text and ignores the rest.
  private static func number(_ text: some Collection<UInt8>) -> Int? {
    let digits = text.drop { $0 == UInt8(ascii: " ") }.prefix { $0.isDigit }
    guard !digits.isEmpty else { return nil }
    return Int(String(decoding: digits, as: UTF8.self)) ?? Int.max
  }
}
