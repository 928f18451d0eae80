import Foundation

/// What a person fills in to sign up. Every member is optional, so that all that is missing is told at once.
struct SignUpInput: Decodable, Sendable {
  var name: String?
  var email: String?
  var password: String?

  /// The members, checked and tidied up.
  func validated() throws(Problem) -> (name: String, email: String, password: String) {
    var check = Validation()
    let name = check.name("name", name)
    let email = check.email("email", email)
    let password = check.password("password", password)
    try check.finish()
    return (name, email, password)
  }
}

/// What a person fills in to sign in.
struct SignInInput: Decodable, Sendable {
  var email: String?
  var password: String?

  /// Only presence is checked: whether the rest is right is told by the account alone.
  func validated() throws(Problem) -> (email: String, password: String) {
    var check = Validation()
    let email = check.present("email", email).trimmingCharacters(in: .whitespacesAndNewlines)
    let password = check.present("password", password)
    try check.finish()
    return (email, password)
  }
}

/// What a client sends for a new pair of tokens, and to sign out.
struct RefreshInput: Decodable, Sendable {
  var refreshToken: String?

  enum CodingKeys: String, CodingKey {
    case refreshToken = "refresh_token"
  }

  func validated() throws(Problem) -> String {
    var check = Validation()
    let token = check.present("refresh_token", refreshToken)
    try check.finish()
    return token
  }
}
