import Apus
import FriendsService

// Endpoints for the backend's faults; the apps do not use them.

extension Endpoint where Self == Request<Void> {
  /// Gets no response.
  static func stalled() -> Self { .method(.get, "/faults/stall") }

  /// Gets a response after a second.
  static func slow() -> Self { .method(.get, "/faults/slow") }

  /// Gets status 503 a few times, then 200.
  ///
  /// - Parameters:
  ///   - key: identifies the requests to count.
  ///   - failures: the number of failures.
  ///   - milliseconds: the delay that the server asks for. Default: `nil`, none.
  static func flaky(_ key: String, failures: Int, retryAfter milliseconds: Int? = nil) -> Self {
    .method(.get, "/faults/flaky", query: ["key": key, "failures": failures, "retry_after_ms": milliseconds])
  }

  /// Always gets status 503.
  ///
  /// - Parameter seconds: the delay that the server asks for.
  static func busy(retryAfter seconds: Int) -> Self {
    .method(.get, "/faults/status/503", query: ["retry_after": seconds])
  }

  /// Gets redirected to another address.
  static func redirected(to address: String) -> Self {
    .method(.get, "/faults/redirect", query: ["to": address])
  }
}

extension Endpoint where Self == Request<Friend> {
  /// Adds a friend without an idempotency key.
  static func addFriendWithoutKey(_ friend: NewFriend) -> Self { .post("/friends", content: .json(friend)) }
}

extension Endpoint where Self == Request<FriendsPage> {
  /// The first page of friends, to be shown once there is a network.
  static func friendsWhenOnline() -> Self {
    Request<FriendsPage>.get("/friends", query: ["page": 1]).json(.snakeCase).connectivity(.wait)
  }

  /// Gets friends whose members have the wrong types.
  static func misshapenFriends() -> Self { .get("/faults/wrong-shape").json(.snakeCase) }

  /// Gets truncated JSON.
  static func truncatedFriends() -> Self { .get("/faults/malformed").json(.snakeCase) }
}
