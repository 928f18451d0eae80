import Apus
import ApusOAuth

/// A browser without a window: it opens the sign-in page, fills in and submits the form, and follows the redirect.
struct ScriptedBrowser: AuthorizationBrowser {
  /// The user's decision on the sign-in page.
  enum Decision {
    case signIn(email: String, password: Secret)
    case cancel

    /// The values of the form.
    var form: [String: String] {
      switch self {
      case .signIn(let email, let password): ["email": email, "password": password.value, "decision": "sign-in"]
      case .cancel: ["decision": "cancel"]
      }
    }
  }

  /// The error of a page without a sign-in form.
  struct UnexpectedPage: Error, CustomStringConvertible {
    let description = "The page has no form for signing in"
  }

  let decision: Decision
  /// The browser's own client, which shares no state with the app.
  private let client: Client

  init(_ decision: Decision) {
    self.decision = decision
    // The requests have complete URLs.
    client = Client(baseURL: "http://127.0.0.1")
  }

  func open(_ page: String, redirect: String) async throws -> String? {
    let content = try await client.send(Request<String>.get(.url(page)))
    guard content.contains("<form"), content.contains(#"name="password""#) else { throw UnexpectedPage() }
    // The final redirect leads to the app's listener, whose page directs the user back to the app.
    _ = try await client.send(Request<String>.post(.url(page), content: .form(decision.form)))
    return nil
  }
}
