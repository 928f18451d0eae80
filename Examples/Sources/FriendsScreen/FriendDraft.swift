public import FriendsService

/// What somebody has typed so far. It never goes through a client, so it may stay a plain struct of the main actor.
public struct FriendDraft: Codable {
  /// The name so far.
  public var name = ""
  /// The e-mail address so far.
  public var email = ""

  /// Makes an empty draft.
  public init() {}

  /// The draft as the service wants it.
  public var friend: NewFriend { NewFriend(name: name, email: email.isEmpty ? nil : email) }
}
