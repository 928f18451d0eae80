import Apus
import ApusOAuth

/// A browser without a window: it opens the page of a sign-in, fills in the form as its user would, and follows the
/// redirect.
struct ScriptedBrowser: AuthorizationBrowser {
  /// What the user does on the page.
  enum Decision {
    case signIn(email: String, password: Secret)
    case cancel

    /// The page's form, filled in.
    var form: [String: String] {
      switch self {
      case .signIn(let email, let password): ["email": email, "password": password.value, "decision": "sign-in"]
      case .cancel: ["decision": "cancel"]
      }
    }
  }

  /// A page without a form for signing in.
  struct UnexpectedPage: Error, CustomStringConvertible {
    let description = "The page has no form for signing in"
  }

  let decision: Decision
  /// The browser's own client: it shares nothing with the app.
  private let client: Client

  init(_ decision: Decision) {
    self.decision = decision
    // Every page has a complete URL.
    client = Client(baseURL: "http://127.0.0.1")
  }

  func open(_ page: String, redirect: String) async throws -> String? {
    let content = try await client.send(Request<String>.get(.url(page)))
    guard content.contains("<form"), content.contains(#"name="password""#) else { throw UnexpectedPage() }
    // The last page is the one of the app's listener, which tells the user to return to the app.
    _ = try await client.send(Request<String>.post(.url(page), content: .form(decision.form)))
    return nil
  }
}
