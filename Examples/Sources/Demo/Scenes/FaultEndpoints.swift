import Apus
import FriendsService

// What goes wrong on request: endpoints that no app has.

extension Endpoint where Self == Request<Void> {
  /// Never answered.
  static func stalled() -> Self { .get("/faults/stall") }
}

extension Endpoint where Self == Request<FriendsPage> {
  /// Answered with friends of the wrong shape.
  static func misshapenFriends() -> Self { .get("/faults/wrong-shape").json(.snakeCase) }

  /// Answered with JSON that breaks off.
  static func brokenFriends() -> Self { .get("/faults/malformed").json(.snakeCase) }
}
