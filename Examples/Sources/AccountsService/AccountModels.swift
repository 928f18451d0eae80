public import Apus

/// A user's account.
public struct Account: Codable, Sendable, Hashable, Identifiable {
  /// The server's id of the account.
  public let id: Int
  /// The user's name.
  public let name: String
  /// The user's e-mail address.
  public let email: String

  /// Creates an account, for previews and tests.
  public init(id: Int, name: String, email: String) {
    self.id = id
    self.name = name
    self.email = email
  }
}

/// The sign-up form.
public struct SignUpForm: Sendable, Hashable {
  /// The user's name.
  public var name: String
  /// The user's e-mail address.
  public var email: String
  /// The password; prints as `██`.
  public var password: Secret

  /// Creates a form.
  public init(name: String, email: String, password: Secret) {
    self.name = name
    self.email = email
    self.password = password
  }
}

/// The server's reasons for rejecting a sign-up form, one for each invalid input.
public struct SignUpRejection: Decodable, Sendable, Hashable {
  /// The error of one input.
  public struct Problem: Decodable, Sendable, Hashable {
    /// The input's name: `name`, `email` or `password`.
    public let field: String
    /// The reason, for example `must have at least 8 characters`.
    public let message: String

    /// Creates a problem, for previews and tests.
    public init(field: String, message: String) {
      self.field = field
      self.message = message
    }
  }

  /// The errors; never empty.
  public let errors: [Problem]

  /// Creates a rejection, for previews and tests.
  public init(errors: [Problem]) {
    self.errors = errors
  }
}
