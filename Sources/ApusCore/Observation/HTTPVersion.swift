/// A version of HTTP. The raw value is that of OpenTelemetry's attribute `network.protocol.version`.
#if hasAttribute(nonexhaustive)
@nonexhaustive
#endif
public enum HTTPVersion: String, Sendable, Hashable, CaseIterable {
  /// HTTP/1.1 (RFC 9112).
  case http1 = "1.1"
  /// HTTP/2 (RFC 9113).
  case http2 = "2"
}
