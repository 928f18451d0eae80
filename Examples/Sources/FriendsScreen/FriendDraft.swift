public import FriendsService

/// The input of the form so far. It is not sent to the server, so it can stay isolated to the main actor.
public struct FriendDraft: Codable {
  /// The name.
  public var name = ""
  /// The e-mail address.
  public var email = ""

  /// Creates an empty draft.
  public init() {}

  /// The draft as the service's form.
  public var friend: NewFriend { NewFriend(name: name, email: email.isEmpty ? nil : email) }
}
