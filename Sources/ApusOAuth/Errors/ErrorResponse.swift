import ApusCore
import ApusJSON

/// A server's error: in a response (RFC 6749 §5.2) or in a redirect (RFC 6749 §4.1.2.1).
struct ErrorResponse {
  let code: String
  /// The explanation for developers; `nil`: none.
  var message: String?
  /// `nil`: the error came with a redirect.
  var status: Int?
  var cause: CallError?
  /// The secrets that were sent and must not be in a text: a server may repeat one as its error code.
  var secrets: [String] = []
}

extension ErrorResponse {
  /// Reads a response; `nil`: it is no error.
  init?(_ json: JSONValue, status: Int, cause: CallError? = nil, secrets: [String]) {
    guard let code = json.text("error") else { return nil }
    self.init(code: code, message: json.text("error_description"), status: status, cause: cause, secrets: secrets)
  }
}

/// Short names that a server gives, such as error codes and types of tokens, as errors show them.
enum ServerName {
  /// The maximum length in bytes.
  private static let limit = 64
  /// Shorter secrets are in many names by chance.
  private static let shortestPart = 8

  /// Returns a name in quotation marks; `nil`: the text is no name, or it could be part of a secret.
  ///
  /// - Parameter secrets: the secrets that the server knows.
  static func quoted(_ text: String, besides secrets: [String]) -> String? {
    guard let name = ServerText.code(text), name == text, name.utf8.count <= limit,
      name.utf8.allSatisfy({ $0.isLetterOrDigit || "_-.:/".utf8.contains($0) }),
      !secrets.contains(where: { areRelated(name, $0) })
    else { return nil }
    return "“\(name)”"
  }

  private static func areRelated(_ name: String, _ secret: String) -> Bool {
    name == secret
      || min(name.utf8.count, secret.utf8.count) >= shortestPart
        && (name.contains(secret) || secret.contains(name))
  }
}
