import HTTPTypes

/// The pages that a browser shows at `/authorize`.
enum AuthorizationPage {
  /// Returns the sign-in page. Its form is sent to the page's own URL, so the page contains no part of the request.
  ///
  /// - Parameter isRejected: whether the last attempt failed.
  static func signIn(isRejected: Bool = false) -> Response {
    let rejection = isRejected ? "<p>The e-mail address or the password is wrong.</p>" : ""
    return page(
      "Sign in",
      """
      \(rejection)
      <form method="post">
      <label>E-mail address <input name="email" type="email" autocomplete="username"></label>
      <label>Password <input name="password" type="password" autocomplete="current-password"></label>
      <button name="decision" value="sign-in">Sign in</button>
      <button name="decision" value="cancel">Cancel</button>
      </form>
      """, status: isRejected ? .forbidden : .ok)
  }

  /// Returns a page that ends the sign-in.
  static func failure(_ sentence: String) -> Response {
    page("This sign-in cannot continue", "<p>\(sentence)</p>", status: .badRequest)
  }

  private static func page(_ title: String, _ content: String, status: HTTPResponse.Status) -> Response {
    var response = Response.text(
      """
      <!doctype html>
      <html lang="en"><meta charset="utf-8"><title>\(title)</title>
      <h1>\(title)</h1>
      \(content)
      </html>

      """, type: "text/html; charset=utf-8", status: status)
    response.headers[.cacheControl] = "no-store"
    // Other pages cannot embed this page in a frame, where they could make users click in it.
    response.headers[.contentSecurityPolicy] = "default-src 'none'; frame-ancestors 'none'"
    return response
  }
}
