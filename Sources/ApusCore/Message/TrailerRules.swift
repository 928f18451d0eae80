import HTTPTypes

/// Which fields may follow the content.
enum TrailerRules {
  /// Fields that are needed before the content can be read, or that decide about the exchange: framing, routing,
  /// authentication, control and content's own description (RFC 9110 §6.5.1). A trailer cannot change any of it any
  /// more, so these are dropped.
  private static let forbidden: Set<String> = [
    "age", "authentication-info", "authorization", "cache-control", "connection", "content-encoding",
    "content-length",
    "content-location", "content-range", "content-type", "cookie", "date", "expect", "expires", "host", "keep-alive",
    "location", "max-forwards", "pragma", "proxy-authenticate", "proxy-authentication-info", "proxy-authorization",
    "proxy-connection", "range", "retry-after", "set-cookie", "te", "trailer", "transfer-encoding", "upgrade", "vary",
    "warning", "www-authenticate",
  ]

  static func allowed(_ trailers: HTTPFields) -> HTTPFields {
    guard !trailers.isEmpty else { return trailers }
    var allowed = HTTPFields()
    for field in trailers where !forbidden.contains(field.name.canonicalName) { allowed.append(field) }
    return allowed
  }
}
