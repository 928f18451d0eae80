import ApusOAuth
import Testing

/// Returns the error that a step throws, or `nil` if it succeeds.
func oauthFailure(_ work: () async throws(OAuthError) -> some Any) async -> OAuthError? {
  do throws(OAuthError) {
    _ = try await work()
    return nil
  } catch {
    return error
  }
}

/// A browser that returns the redirect of a page.
struct ScriptedBrowser: AuthorizationBrowser {
  let script: @Sendable (String) async throws -> String?

  init(_ script: @escaping @Sendable (String) async throws -> String?) {
    self.script = script
  }

  func open(_ page: String, redirect: String) async throws -> String? {
    try await script(page)
  }
}
