public import Apus

/// An action of a friend.
public struct Activity: Codable, Sendable, Hashable {
  /// The action in a sentence.
  public let text: String

  /// Creates an activity, for previews and tests.
  public init(text: String) {
    self.text = text
  }
}

extension Endpoint where Self == Request<EventStream<Activity>> {
  static var activity: Self { .get("/friends/activity") }
}

extension LiveFriendsService {
  /// Opens the stream when the loop begins, and again when the connection is lost.
  public func activity() -> any AsyncSequence<Activity, CallError> & Sendable {
    client.stream(.activity)
  }
}
