/// What a person fills in to add a friend.
public struct NewFriend: Codable, Sendable, Hashable {
  /// The name.
  public var name: String
  /// The e-mail address, if it is known.
  public var email: String?

  /// Makes a form.
  public init(name: String, email: String? = nil) {
    self.name = name
    self.email = email
  }
}
