/// Whether an exchange goes out on a connection that nothing was sent on before.
///
/// For requests that must not be repeated and are worth a handshake, such as the one that buys new tokens: a connection
/// that has been idle may be closed by the server just as the request is sent, and then nobody knows whether the server
/// has acted on it. `NIOTransport` honours it. `URLSessionTransport` cannot choose connections, and ignores it.
public enum NewConnectionKey: ContextKey {
  /// Any connection will do.
  public static let defaultValue = false
}
