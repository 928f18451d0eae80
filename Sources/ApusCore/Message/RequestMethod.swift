package import HTTPTypes

extension HTTPRequest.Method {
  /// Whether the method is safe, that is, read-only (RFC 9110 §9.2.1, RFC 10008 §2): GET, HEAD, OPTIONS, TRACE and
  /// QUERY.
  package var isSafe: Bool {
    switch rawValue {
    case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY": true
    default: false
    }
  }

  /// Whether the method is idempotent (RFC 9110 §9.2.2, RFC 10008): the safe methods, PUT and DELETE.
  package var isIdempotent: Bool { isSafe || rawValue == "PUT" || rawValue == "DELETE" }
}
