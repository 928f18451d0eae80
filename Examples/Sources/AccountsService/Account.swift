/// A person's account.
public struct Account: Codable, Sendable, Hashable, Identifiable {
  /// The server's number for the account.
  public let id: Int
  /// The person's name.
  public let name: String
  /// The person's e-mail address.
  public let email: String

  /// Makes an account, for previews and tests.
  public init(id: Int, name: String, email: String) {
    self.id = id
    self.name = name
    self.email = email
  }
}
