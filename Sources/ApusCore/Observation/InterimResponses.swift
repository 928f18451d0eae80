public import HTTPTypes

/// Where a call keeps who is told of interim responses (RFC 9110 §15.2), for example of early hints.
///
/// Set with `request.setting(InterimResponses.self) { … }`. Called where the response arrives, before the head of the
/// final one is there: be quick. Transports that cannot see interim responses tell of none.
public enum InterimResponses: ContextKey {
  /// Nobody is told.
  public static let defaultValue: (@Sendable (HTTPResponse) -> Void)? = nil
}
