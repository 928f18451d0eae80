public import Apus

/// What a person fills in to sign up.
public struct SignUpForm: Sendable, Hashable {
  /// The person's name.
  public var name: String
  /// The person's e-mail address.
  public var email: String
  /// The password; it prints as `██`.
  public var password: Secret

  /// Makes a form.
  public init(name: String, email: String, password: Secret) {
    self.name = name
    self.email = email
    self.password = password
  }
}
