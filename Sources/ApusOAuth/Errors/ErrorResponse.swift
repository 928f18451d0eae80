import ApusCore
import ApusJSON

/// A server's error: in a response (RFC 6749 §5.2) or in a redirect (RFC 6749 §4.1.2.1).
struct ErrorResponse {
  let code: String
  /// The explanation for developers; `nil` if the server sent no explanation.
  var message: String?
  /// The status of the response; `nil` if the error came with a redirect.
  var status: Int?
  var cause: CallError?
  /// The sent secrets, which error messages must not contain: a server may repeat a secret as its error code.
  var secrets: [String] = []
}

extension ErrorResponse {
  /// Reads a response. Returns `nil` if it is not an error.
  init?(_ json: JSONValue, status: Int, cause: CallError? = nil, secrets: [String]) {
    guard let code = json.text("error") else { return nil }
    self.init(code: code, message: json.text("error_description"), status: status, cause: cause, secrets: secrets)
  }
}

/// Short names from a server, such as error codes and token types, in the form in which errors contain them.
enum ServerName {
  /// The maximum length in bytes.
  private static let limit = 64
  /// The minimum length of secrets that are searched. A shorter secret could occur in a name by chance.
  private static let minimumSecretLength = 8

  /// Returns a name in quotation marks; `nil` if the text is not a name, or could be part of a secret.
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
      || min(name.utf8.count, secret.utf8.count) >= minimumSecretLength
        && (name.contains(secret) || secret.contains(name))
  }
}
