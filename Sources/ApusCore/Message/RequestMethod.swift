public import HTTPTypes

extension HTTPRequest.Method {
  /// Whether a request with this method only reads (RFC 9110 §9.2.1, RFC 10008 §2): GET, HEAD, OPTIONS, TRACE and QUERY.
  public var isSafe: Bool {
    switch rawValue {
    case "GET", "HEAD", "OPTIONS", "TRACE", "QUERY": true
    default: false
    }
  }

  /// Whether sending a request twice has the same effect as sending it once (RFC 9110 §9.2.2, RFC 10008): the safe methods,
  /// PUT and DELETE.
  public var isIdempotent: Bool { isSafe || rawValue == "PUT" || rawValue == "DELETE" }
}
