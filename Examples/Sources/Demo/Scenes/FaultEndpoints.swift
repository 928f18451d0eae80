import Apus
import FriendsService

// What goes wrong on request: endpoints that no app has.

extension Endpoint where Self == Request<Void> {
  /// Never answered.
  static func stalled() -> Self { .method(.get, "/faults/stall") }

  /// Answered after a while.
  static func slow() -> Self { .method(.get, "/faults/slow") }

  /// Refused a few times for now, then answered.
  ///
  /// - Parameters:
  ///   - key: what attempts are counted by; a server that runs on remembers it.
  ///   - failures: how many times.
  ///   - milliseconds: when to come back, as the server says it. Default: it says nothing.
  static func flaky(_ key: String, failures: Int, retryAfter milliseconds: Int? = nil) -> Self {
    .method(.get, "/faults/flaky", query: ["key": key, "failures": failures, "retry_after_ms": milliseconds])
  }

  /// Refused for now, each time: come back in so many seconds.
  static func busy(retryAfter seconds: Int) -> Self {
    .method(.get, "/faults/status/503", query: ["retry_after": seconds])
  }
}

extension Endpoint where Self == Request<Friend> {
  /// Adds a friend as the app does, but without a key.
  static func addFriendWithoutKey(_ friend: NewFriend) -> Self { .post("/friends", content: .json(friend)) }
}

extension Endpoint where Self == Request<FriendsPage> {
  /// Answered with friends of the wrong shape.
  static func misshapenFriends() -> Self { .get("/faults/wrong-shape").json(.snakeCase) }

  /// Answered with JSON that breaks off.
  static func brokenFriends() -> Self { .get("/faults/malformed").json(.snakeCase) }
}
