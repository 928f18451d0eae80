import ApusCore

/// The URL to which the server redirects the browser after the authorization.
public struct OAuthRedirect: Sendable, Hashable {
  enum Kind: Sendable, Hashable {
    case loopback(port: UInt16, path: String)
    case uri(String)
  }

  let kind: Kind

  /// `http://127.0.0.1:PORT/PATH`, on which this machine listens during the sign-in (RFC 8252 §7.3). For command-line
  /// tools and desktop apps.
  ///
  /// - Parameters:
  ///   - port: the port. Default: 0, any free port. Servers must permit any port (RFC 8252 §7.3).
  ///   - path: the path as registered at the server. Default: `/callback`.
  public static func loopback(port: UInt16 = 0, path: String = "/callback") -> OAuthRedirect {
    OAuthRedirect(kind: .loopback(port: port, path: path))
  }

  /// A URL of the app, exactly as registered at the server: with a custom scheme of the app, such as
  /// `com.example.films:/callback`, or an https URL that the system associates with the app. The browser intercepts it.
  public static func uri(_ uri: String) -> OAuthRedirect {
    OAuthRedirect(kind: .uri(uri))
  }
}
