#if canImport(AuthenticationServices)
public import AuthenticationServices
import Foundation

/// A browser window of the system (`ASWebAuthenticationSession`) that intercepts the redirect. For apps on Apple
/// platforms.
///
/// <!-- sample: none the type exists on Apple platforms only -->
/// ```swift
/// let browser = SystemBrowser { window }
/// let redirect = OAuthRedirect.uri("com.example.films:/callback")
/// let grant = try await oauth.signIn(scopes: ["openid"], redirect: redirect, browser: browser)
/// ```
///
/// The redirect must have a custom scheme of the app, or be an https URL on a host that is associated with the app.
public struct SystemBrowser: AuthorizationBrowser {
  private let anchor: @MainActor @Sendable () -> ASPresentationAnchor
  private let isEphemeral: Bool

  /// Creates a browser.
  ///
  /// - Parameters:
  ///   - isEphemeral: whether the window shares no cookies with the user's browser, so that the user always has to sign
  ///     in. Default: `false`.
  ///   - anchor: returns the window above which the browser is displayed.
  public init(isEphemeral: Bool = false, above anchor: @escaping @MainActor @Sendable () -> ASPresentationAnchor) {
    (self.isEphemeral, self.anchor) = (isEphemeral, anchor)
  }

  /// Displays a page, and returns the redirect.
  ///
  /// - Throws: `CancellationError` if the user closed the window or the task is cancelled; errors of the system.
  public func open(_ page: String, redirect: String) async throws -> String? {
    guard let url = URL(string: page) else {
      throw OAuthError(.authorization, .browserFailed, "the page's URL is malformed")
    }
    return try await SystemBrowserSession(anchor).run(url, redirect, isEphemeral: isEphemeral)
  }
}

/// A session with one browser window.
@MainActor
private final class SystemBrowserSession: ASWebAuthenticationPresentationContextProviding {
  private let anchor: @MainActor @Sendable () -> ASPresentationAnchor
  private var session: ASWebAuthenticationSession?
  private var isCancelled = false

  init(_ anchor: @escaping @MainActor @Sendable () -> ASPresentationAnchor) {
    self.anchor = anchor
  }

  func presentationAnchor(for session: ASWebAuthenticationSession) -> ASPresentationAnchor { anchor() }

  func run(_ page: URL, _ redirect: String, isEphemeral: Bool) async throws -> String {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<String, any Error>) in
        guard !isCancelled else { return continuation.resume(throwing: CancellationError()) }
        let session = ASWebAuthenticationSession(url: page, callback: Self.callback(redirect)) { url, error in
          continuation.resume(with: Self.result(url, error))
        }
        session.presentationContextProvider = self
        session.prefersEphemeralWebBrowserSession = isEphemeral
        self.session = session
        // If the session does not start, the system never calls the handler.
        if !session.start() {
          continuation.resume(throwing: OAuthError(.authorization, .browserFailed, "the system opened no window"))
        }
      }
    } onCancel: {
      Task { @MainActor in
        isCancelled = true
        session?.cancel()
      }
    }
  }

  private static func callback(_ redirect: String) -> ASWebAuthenticationSession.Callback {
    if let url = URL(string: redirect), url.scheme == "https", let host = url.host() {
      return .https(host: host, path: url.path())
    }
    return .customScheme(String(redirect.prefix { $0 != ":" }))
  }

  nonisolated private static func result(_ url: URL?, _ error: (any Error)?) -> Result<String, any Error> {
    if let url { return .success(url.absoluteString) }
    if let error = error as? ASWebAuthenticationSessionError, error.code == .canceledLogin {
      return .failure(CancellationError())
    }
    return .failure(error ?? OAuthError(.authorization, .browserFailed, "the system returned no redirect"))
  }
}
#endif
